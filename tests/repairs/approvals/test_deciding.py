"""What a person decides about in the console: what they were shown, with a reason, by a form that is whole, once."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs.acts import approve as acts
from tests.engine.simulated import World
from tests.repairs.approvals.pages import ACTS, everything, form, page_of, say, state
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.engine.cancel import cancel
from workflows.models import Approval, ApprovalVote

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_what_was_read_and_answered_is_approved_and_the_page_shows_what_the_engine_does(
    asking: Make, client: Client, world: World
) -> None:
    approval = asking()
    page = page_of(client, approval)
    for said in (
        "can&#x27;t be undone",
        "48000",
        "office@cole.example",
        "What is amount?",
        "It is not there yet",
        approval.digest,
    ):
        assert said in page
    status, page = say(client, approval, **form(client, approval))
    assert (status, state(approval)) == (200, "granted")
    assert "Approved; not sent yet." in page
    assert world.sends == []
    drain_once()
    page = page_of(client, approval)
    at = r"\d\d [A-Z][a-z]{2} \d\d:\d\d:\d\d"  # the list of what was decided goes back for months
    assert re.search(f"sent {at}, verified {at}", page)
    assert len(world.sends) == 1
    vote = ApprovalVote.objects.get()
    assert vote.opened_at is not None
    assert vote.opened_at < vote.at
    assert "after opening the page" in page


def test_an_effect_leads_to_what_people_were_asked_and_home_counts_it(asking: Make, client: Client) -> None:
    approval = asking()
    page = client.get(f"/runs/{approval.run_id}/effects/{approval.effect_id}").content.decode()
    assert f'href="/approvals/{approval.id}/"' in page
    home = client.get("/").content.decode()
    assert "<b>1</b><span>To approve</span>" in home
    assert "Nothing needs a person" not in home


def test_a_refusal_stops_it_and_says_why(asking: Make, client: Client, world: World) -> None:
    approval = asking()
    _, page = say(client, approval, "refuse", **form(client, approval, why="ch_2 was never made"))
    assert "Refused; it is not sent." in page
    assert "ch_2 was never made" in page
    assert "never sent: it was called off" in page
    drain_once()
    assert world.sends == []


def test_d11_looking_changes_nothing_and_only_a_form_with_its_token_decides(
    asking: Make, client: Client, approver: User
) -> None:
    approval = asking()
    before = everything()
    for address in ("/approvals/", "/approvals/?view=decided", "/approvals/?view=mine"):
        assert client.get(address).status_code == client.head(address).status_code == 200
    for address in ("", "?whole=1", "call.json", "reading"):
        assert client.get(f"/approvals/{approval.id}/{address}").status_code == 200
    for act in ACTS:
        assert client.get(f"/approvals/{approval.id}/{act}").status_code == 405
        assert client.head(f"/approvals/{approval.id}/{act}").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(approver, backend="django.contrib.auth.backends.ModelBackend")
    for act in ACTS:
        assert strict.post(f"/approvals/{approval.id}/{act}", form(client, approval)).status_code == 403
    assert everything() == before


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        ({"why": " "}, 400, "Say why, in a sentence."),
        ({"answer": ""}, 400, "Answer the check question"),
        ({"answer": "0123456789abcdef"}, 400, "That is not what would be sent."),
        ({"note": "forged"}, 400, "This form is not whole or too old"),
        ({"note": ""}, 400, "This form is not whole or too old"),
    ],
)
def test_a_form_that_isnt_whole_decides_nothing_and_keeps_what_was_typed(
    asking: Make, client: Client, sent: dict[str, str], status: int, said: str
) -> None:
    approval = asking()
    answer, page = say(client, approval, **{**form(client, approval, why="typed with care"), **sent})
    assert (answer, state(approval)) == (status, "asked")
    assert said in page
    assert sent.get("why", "typed with care") in page
    assert not ApprovalVote.objects.exists()


def test_a_note_of_another_person_or_page_decides_nothing(
    asking: Make, client: Client, person: Make, browse: Make
) -> None:
    approval = asking()
    other = browse(person("second", "approver"))
    status, page = say(client, approval, **form(other, approval))
    assert status == 400
    assert "made for another page or another person" in page
    assert state(approval) == "asked"


def test_a_page_left_open_over_night_decides_nothing(
    asking: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = asking()
    sent = form(client, approval)
    monkeypatch.setattr(acts, "PAGE_LASTS", dt.timedelta(seconds=-1))
    assert say(client, approval, **sent)[0] == 400
    assert state(approval) == "asked"


@pytest.mark.parametrize("how", ["refused", "expired", "gone", "void"])
def test_what_is_no_more_says_so(asking: Make, client: Client, person: Make, how: str) -> None:
    approval = asking()
    sent = form(client, approval)
    if how == "refused":
        approvals.refuse(approval.id, by=person("second", "approver"), why="no", seen_digest=approval.digest)
    elif how == "expired":
        Approval.objects.filter(id=approval.id).update(expires_at=approval.asked_at)
    elif how == "gone":
        cancel(approval.agent, approval.run_id, reason="not wanted")
        drain_once()
    else:
        approvals.keep_target(approval.id, image={}, version="v2", at=approval.asked_at)
    status, page = say(client, approval, **sent)
    assert status == 409
    said = {
        "refused": "This was refused at",
        "expired": "nobody decided it in time",
        "gone": "nothing is asked",
        "void": "What is asked has changed since this page was opened",
    }
    assert said[how] in page or "what it was for is not waiting any more" in page
    assert not ApprovalVote.objects.filter(verdict="approve").exists()


def test_an_approval_is_taken_back_before_it_is_sent(asking: Make, client: Client, world: World) -> None:
    approval = asking()
    say(client, approval, **form(client, approval))
    _, page = say(client, approval, "take-back", why="wrong customer")
    assert (state(approval), "wrong customer" in page) == ("void", True)
    drain_once()
    assert world.sends == []
    assert Approval.objects.filter(effect=approval.effect_id, state="asked").count() == 1


def test_of_two_people_both_are_needed(asking: Make, client: Client, person: Make, browse: Make) -> None:
    approval = asking()
    Approval.objects.filter(id=approval.id).update(needed=2)
    _, page = say(client, approval, **form(client, approval))
    assert "Your approval counts, 1 of 2; it takes 1 more." in page
    assert "another person is needed" in page
    second = browse(person("second", "approver"))
    _, page = say(second, approval, **form(second, approval))
    assert (state(approval), "Approved; not sent yet." in page) == ("granted", True)
