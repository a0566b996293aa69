"""What a page is answered that asks for news: once, in few statements, and never with a page in the place of a part."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts import bulk
from repairs.bulk import choosing, running
from repairs.desk import desk_for
from repairs.models import Case
from repairs.models.batch import BatchAct
from repairs.views import live
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/repairs/?q=a%26b"}


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("night desk", "repairer"))
    return found


def news_of(client: Client, page: str) -> tuple[str, str]:
    """(the address that the page asks, the tag of what it shows)."""
    text = client.get(page).content.decode()
    found = re.search(r'data-tag="([^"]+)" hx-get="([^"]+)"', text)
    assert found is not None, page
    return unescape(found[2]), unescape(found[1])


def test_what_a_page_shows_already_is_sent_or_what_changed_is_not(stuck: Make, client: Client) -> None:
    run = stuck().run_id
    for page in ("/", "/repairs/", f"/runs/{run}/", f"/runs/{run}/time", f"/runs/{run}/journal"):
        address, tag = news_of(client, page)
        with CaptureQueriesContext(connection) as seen:
            same = client.get(address, headers={"If-None-Match": tag, **HTMX})
        assert (same.status_code, same.content) == (304, b""), page
        assert len(seen) <= 12, page
        assert "no-store" in same["Cache-Control"]
        dressed = f'W/"{tag.strip(chr(34))}-gzip"'
        assert client.get(address, headers={"If-None-Match": dressed, **HTMX}).status_code == 304, "a proxy compresses"
    home, known = news_of(client, "/")
    stuck()
    assert b"A figure changed" in client.get(home, headers={"If-None-Match": known, **HTMX}).content
    run_news, known = news_of(client, f"/runs/{run}/")
    effect = Effect.objects.filter(run=run)[0]
    Effect.objects.filter(id=effect.id).update(seq=effect.seq + 1)
    assert b"This run went on" in client.get(run_news, headers={"If-None-Match": known, **HTMX}).content


def test_who_was_logged_out_is_led_away_or_given_a_page_for_a_part(stuck: Make, client: Client) -> None:
    case = stuck()
    client.logout()
    here = f"/repairs/{case.number}/here"
    asks: list[Callable[..., Any]] = [partial(client.get, "/home/news"), partial(client.post, here)]
    for ask in asks:
        told = ask(headers=HTMX)
        assert (told.status_code, told["HX-Retarget"]) == (200, "#told")
        assert b"<html" not in told.content
        assert "next=%2Frepairs%2F%3Fq%3Da%2526b" in told.content.decode(), "the way back is the page's, not the part's"
        led = ask()
        assert (led.status_code, led["Location"].startswith("/admin/login/")) == (302, True)
        assert "HX-Request" in told["Vary"]
        assert "HX-Request" in led["Vary"]
    tag = client.get("/home/news", headers=HTMX)["ETag"]
    again = client.get("/home/news", headers={"If-None-Match": tag, **HTMX})
    assert again.status_code == 304, "it is said once"


def test_who_logs_in_again_after_a_form_was_answered_is_led_to_an_act(stuck: Make, client: Client) -> None:
    case = stuck()
    client.logout()
    here, run = f"/repairs/{case.number}/", f"/runs/{case.run_id}/"
    ways = {  # what the window says, and what is asked from there: the page that the form stood on
        (f"{here}close?from=here", f"{here}here"): here,
        (f"/repairs/proposals/{case.run_id}/confirm", f"{here}here"): here,
        (f"{here}hand-over/send", f"{here}here"): f"{here}hand-over",
        (f"{here}read-back/accept", f"{here}here"): f"{here}read-back",
        (f"{here}hand-over", f"{here}here"): f"{here}hand-over",
        ("/repairs/batches/new", "/repairs/news"): "/repairs/",
        ("/repairs/C-" + str(case.number) + "/", f"{here}here"): f"/repairs/C-{case.number}/",
        (f"{run}journal?page=2", f"{run}news"): f"{run}journal?page=2",
        ("/reports/alone/1/review", "/home/news"): "/",
        ("//elsewhere.example/x", "/home/news"): "/",
    }
    for (window, asked), page in ways.items():
        headers = {**HTMX, "HX-Current-URL": f"http://testserver{window}"}
        ask = client.post if asked.endswith("here") else client.get
        told = ask(asked, headers=headers).content.decode()
        assert f'?next={quote(page, safe="")}"' in told, (window, told)


def test_who_sends_a_form_after_their_session_ended_is_led_to_an_act(stuck: Make, client: Client) -> None:
    case = stuck()
    client.logout()
    act, page = f"/repairs/{case.number}/claim", f"/repairs/{case.number}/"
    for referer, back in {
        "": page,
        f"http://testserver{page}?from=home": f"{page}?from=home",
        "http://testserver//elsewhere.example/": page,
        f"http://elsewhere.example/runs/{case.run_id}/": page,
        "http://[testserver": page,
    }.items():
        led = client.post(act, {"fence": "0"}, headers={"Referer": referer})
        assert led["Location"] == f"/admin/login/?next={quote(back, safe='')}", referer
    elsewhere = client.post(f"/repairs/proposals/{case.run_id}/confirm")
    assert elsewhere["Location"] == "/admin/login/?next=%2F"


def test_a_batch_that_can_do_other_things_now_keeps_its_old_buttons_or_one_that_ended_is_asked_for_ever(
    stuck: Make, client: Client
) -> None:
    stuck()
    user = User.objects.get()
    batch = choosing.freeze(desk_for(user), BatchAct.CLAIM, Case.objects.all(), "all")
    place = f"/repairs/batches/{batch.id}/"
    bulk.ask(batch.id, by=user, why="the CRM is back", digest=batch.digest, alone=False)
    asked = {**HTMX, "HX-Current-URL": f"http://testserver{place}"}
    assert client.get(f"{place}progress?shown=running", headers=asked).status_code == 200
    running.run()
    assert client.get(f"{place}progress?shown=running", headers=asked)["HX-Refresh"] == "true"
    assert client.get(f"{place}progress?shown=running", headers=HTMX)["HX-Redirect"] == place
    last = client.get(f"{place}progress?shown=done", headers=asked)
    assert (last.status_code, "HX-Request" in last["Vary"]) == (live.LAST, True)
