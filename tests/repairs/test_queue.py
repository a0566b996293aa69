"""The queue found again: by names, by cause, by team, and what came since the page was made."""

from __future__ import annotations

import datetime as dt
import re
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from django.test import Client
from django.utils import timezone

from repairs import worklist
from repairs.acts import claim, saved_view, snooze, work_next
from repairs.choice import Choice
from repairs.desk import desk_for
from repairs.models import Case, Person, SavedView
from repairs.templatetags.clock import clock
from tests.engine.simulated import World
from workflows.models import Effect, Run, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    user: User = person("night desk", "repairer")
    found: Client = browse(user)
    return found


def shown(client: Client, address: str) -> list[str]:
    """The numbers of the cases on a page of the queue."""
    return re.findall(r'data-label="Case"><a [^>]*>(C-\d+)</a><', client.get(address).content.decode())


def test_a_case_is_not_found_by_a_part_of_what_its_customer_or_provider_calls_it(stuck: Make, client: Client) -> None:
    first, second = stuck(), stuck()
    mine = Run.objects.get(id=first.run_id)
    reference = Effect.objects.filter(run=mine).exclude(external_ref="").first()
    assert reference is not None
    for words in (
        mine.subject_id,
        mine.subject_id.upper(),
        reference.external_ref[4:-2],
        first.name,
        str(mine.id),
    ):
        assert shown(client, f"/repairs/?q={quote(words)}") == [first.name], words
    assert set(shown(client, "/repairs/?q=customer")) == {first.name, second.name}
    assert shown(client, f"/repairs/?q={mine.subject_id}+nothing-of-the-kind") == []
    assert b"No case is like that" in client.get("/repairs/?q=%25").content, "a wildcard is a letter like any other"


def test_a_search_reads_every_case(stuck: Make) -> None:
    stuck()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM repairs_case WHERE found_by LIKE '%acme onboarding%'")
        assert "case_found_by" in str(cursor.fetchall())


def test_cases_of_one_cause_are_not_linked_or_those_of_another_are(stuck: Make, client: Client, world: World) -> None:
    cases = [stuck(), stuck()]
    world.script("crm.contact", "look_undone", "several")
    cases.append(stuck("well"))
    causes = [Case.objects.get(id=case.id).signature for case in cases]
    assert causes[:2] == ["crm.contact v1: refused, undoing"] * 2 != causes[2:]
    page = client.get("/repairs/").content.decode()
    assert "2 cases of this cause" in page
    assert set(shown(client, f"/repairs/?cause={quote(causes[0])}")) == {cases[0].name, cases[1].name}


def test_a_figure_beside_a_view_counts_other_rows_than_the_page_of_that_view_shows(stuck: Make, client: Client) -> None:
    first, _ = stuck(), stuck()
    page = client.get(f"/repairs/?q={first.name}").content.decode()
    figures = dict(re.findall(r"\?view=(\w+)&amp;q=[^\"]*\"[^>]*>[^<]*?(\d+)</a>", page))
    assert figures["all"] == "1"
    for view, figure in figures.items():
        assert len(shown(client, f"/repairs/?view={view}&q={first.name}")) == int(figure), view


def test_news_keeps_silent_about_a_case_that_came_or_answers_what_was_answered(stuck: Make, client: Client) -> None:
    stuck()
    page = client.get("/repairs/").content.decode()
    address = re.search(r'hx-get="([^"]+)"', page)
    assert address is not None
    news = address[1].replace("&amp;", "&")
    before = client.get(news)
    assert (before.status_code, before.content.strip()) == (200, b"")
    assert client.get(news, headers={"If-None-Match": before["ETag"]}).status_code == 304
    stuck()
    after = client.get(news, headers={"If-None-Match": before["ETag"]})
    assert (after.status_code, b"1 new case since" in after.content) == (200, True)


@pytest.mark.parametrize("query", ["q=%00", f"q={'x' * 201}", "after=cut", "view=none"])
def test_a_query_that_cannot_be_meant_is_answered_as_another(client: Client, query: str) -> None:
    assert client.get(f"/repairs/?{query}").status_code in (400, 404)


def test_each_filter_narrows_rows_and_figures_alike(stuck: Make, client: Client, world: World) -> None:
    first = stuck()
    world.script("crm.contact", "look_undone", "several")
    other = stuck("well")
    assert Case.objects.get(id=other.id).harm != Case.objects.get(id=first.id).harm
    run = Run.objects.get(id=first.run_id)
    for query, found in (
        (f"harm={first.harm}", {first.name}),
        (f"customer={run.subject_type}:{run.subject_id}", {first.name}),
        (f"customer={run.subject_id}", {first.name}),
        ("tool=crm.contact", {first.name, other.name}),
        ("tool=mail.send", set()),
        ("team=sim-desk", {first.name, other.name}),
        ("team=elsewhere", set()),
        (f"agent={run.agent.name}", {first.name, other.name}),
        ("agent=elsewhere", set()),
        ("cause=crm.contact", {first.name, other.name}),
        ("cause=crm", set()),
    ):
        page = client.get(f"/repairs/?{query}")
        assert {row.case.name for row in page.context["rows"]} == found, query
        assert page.context["counts"]["all"] == len(found), query
    assert client.get("/repairs/?harm=none").status_code == 400


def test_the_next_case_is_the_most_harmful_that_nobody_holds_and_nobody_waits_for_it(
    stuck: Make, client: Client, person: Make, browse: Make
) -> None:
    cases = [stuck() for _ in range(3)]
    order = [row.case.number for row in client.get("/repairs/").context["rows"]]
    other = browse(person("second", "repairer"))

    def ask() -> None:
        other.post("/repairs/next")
        connection.close()

    with transaction.atomic():
        list(Run.objects.filter(cases__number=order[0]).select_for_update())  # the engine, or somebody, is at it
        elsewhere = threading.Thread(target=ask)
        elsewhere.start()
        elsewhere.join(timeout=20)
        waits = elsewhere.is_alive()
    elsewhere.join()
    assert not waits, "it waits for what somebody else is at"
    taken = Case.objects.get(claimed_by__username="second")
    assert taken.number == order[1], "it took what is locked"
    assert client.post("/repairs/next")["Location"] == f"/repairs/{order[0]}/"
    assert client.post("/repairs/next")["Location"] == f"/repairs/{order[2]}/"
    led = client.post("/repairs/next", follow=True)
    assert f"Nothing else is free now; C-{order[0]} is yours already" in re.sub("<.?bdi>", "", led.content.decode())
    assert b"Nothing is free now" in browse(person("third", "repairer")).post("/repairs/next", follow=True).content
    assert Case.objects.filter(claimed_by__isnull=False).count() == len(cases)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (18 * 60 + 59, "0:18 left"),
        (3 * 3600 + 600, "3:10 left"),
        (59, "0:00 left"),
        (-1, "0:00 over"),
        (-40 * 60, "0:40 over"),
        (2 * 86400 + 4 * 3600, "2 d 4 h left"),
    ],
)
def test_a_clock_never_promises_a_minute_that_is_not_there(seconds: int, words: str) -> None:
    now = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)
    assert clock(now + dt.timedelta(seconds=seconds), now).endswith(f">{words}</time>")


def test_a_row_says_how_long_its_key_is_remembered(stuck: Make, client: Client) -> None:
    case = stuck()
    soon = timezone.now() + dt.timedelta(minutes=18, seconds=30)
    Case.objects.filter(id=case.id).update(cutoff=soon, cutoff_reason="then the provider forgets our key")
    page = client.get("/repairs/").content.decode()
    assert re.search(r">0:18 left</time> <span class=\"quiet\">then the provider forgets our key<", page)


def test_a_view_is_saved_for_its_person_alone_and_shows_what_it_was_saved_of(
    stuck: Make, client: Client, person: Make, browse: Make
) -> None:
    case = stuck()
    stuck()
    form = {"view": "free", "q": case.name, "name": " Refunds  of the week "}
    place = client.post("/repairs/views/save", form)["Location"]
    assert shown(client, place) == [case.name]
    page = client.get("/repairs/").content.decode()
    assert f'href="/repairs/?view=free&amp;q={case.name}"' in page
    assert "<bdi>Refunds of the week</bdi></a>" in page
    other = browse(person("second", "repairer"))
    assert "Refunds of the week" not in other.get("/repairs/").content.decode()
    saved = SavedView.objects.get()
    assert other.post(f"/repairs/views/{saved.id}/forget").status_code == 404
    assert not saved_view.forget(User.objects.get(username="second"), saved.id)
    client.post("/repairs/views/save", {**form, "q": "", "team": "sim-desk", "name": saved.name})
    assert SavedView.objects.get().query == "team=sim-desk", "a name stands once"
    client.post(f"/repairs/views/{saved.id}/forget")
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("change", [{"name": ""}, {"name": "x" * 61}, {"name": "a\u202eb"}, {"view": "closed"}])
def test_a_view_that_cannot_be_saved_is_refused_and_its_name_kept(client: Client, change: dict[str, str]) -> None:
    form = {"view": "free", "q": "acme", "name": "Refunds", **change}
    answer = client.post("/repairs/views/save", form)
    assert (answer.status_code, SavedView.objects.exists()) == (400, False)
    page = answer.content.decode()
    if change.get("view"):
        assert 'value="Refunds"' in page
    else:
        assert page.count('<input type="hidden" name="view" value="free">') == 2, "what is saved next is another view"


def test_a_person_saves_no_more_views_than_they_find_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_view, "MOST", 1)
    assert client.post("/repairs/views/save", {"view": "all", "q": "a", "name": "one"}).status_code == 302
    assert client.post("/repairs/views/save", {"view": "all", "q": "b", "name": "two"}).status_code == 400
    assert client.post("/repairs/views/save", {"view": "all", "q": "b", "name": "one"}).status_code == 302


def test_the_next_case_is_one_that_waits_or_another_teams(stuck: Make, person: Make) -> None:
    user: User = person("second", "repairer")
    first, case = stuck(), stuck()
    Case.objects.filter(id=first.id).update(state="waiting", rank=0)
    other = Person.objects.create(user=user)
    other.teams.add(Team.objects.create(name="elsewhere"))
    assert work_next.work_next(desk_for(user)) is None
    other.teams.clear()
    assert work_next.work_next(desk_for(user)) == case, "one that waits for an answer hid it"
    snooze.snooze(case.id, by=user, why="they call back", cause="customer", until="2h", fence=1)
    assert work_next.work_next(desk_for(user)) is None


def test_the_next_case_is_one_that_was_claimed_while_it_was_being_found(
    stuck: Make, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, first = stuck(), person("first", "repairer")
    claim.claim(case.id, by=first)
    monkeypatch.setattr(worklist, "held", lambda now: Q(pk__in=[]))  # as it looked a moment before
    assert work_next.work_next(desk_for(person("second", "repairer"))) is None
    assert Case.objects.get().claimed_by == first


def test_a_search_of_very_many_words_passes_over_the_index_for_each() -> None:
    assert len(Choice(words="a b c d e f g").q().children) == 5
