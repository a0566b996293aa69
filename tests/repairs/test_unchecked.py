"""What could not be checked is shown by system, with since when and why, and never counts as fine."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import html
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs import keyset, unchecked
from repairs.desk import desk_for
from tests.engine.simulated import World
from workflows import rows
from workflows.drain import drain_once
from workflows.models import Effect, Look, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("repairer", "repairer"))
    return found


@pytest.fixture
def blind(world: World, tool: Make, workflow: Make, run_through: Make) -> Run:
    """Two effects whose answers were lost, on a calendar that can't be asked: one is given up, one is still asked for;
    and one on the CRM that could be looked at."""
    tool("crm.contact")
    for name in ("calendar.book", "calendar.invite"):
        tool(name)
        world.script(name, "execute", "lost_after")
        world.script(name, "look", *["unreachable"] * 40)
    run: Run = run_through(workflow("crm.contact", "calendar.book", "calendar.invite", after={"invite": []}))
    given_up = Effect.objects.get(step__name="book")
    Effect.objects.filter(id=given_up.id).update(looks_until=given_up.created_at, due_at=given_up.created_at)
    drain_once(slots=8)
    assert {e.step.name: e.state for e in Effect.objects.select_related("step")} == {
        "contact": "verified", "book": "stuck", "invite": "unknown",
    }  # fmt: skip
    return run


def test_an_effect_that_no_look_could_reach_is_hidden_or_counted_where_it_is_not_listed(
    blind: Run, client: Client
) -> None:
    home = client.get("/").content.decode()
    (line,) = re.findall(r'<p class="changed">Could not check:(.*?)</p>', home, re.DOTALL)
    assert "2 effects on <bdi>calendar</bdi>" in line
    assert "no connection" in line
    first = Look.objects.filter(reached=False).earliest("id").begun_at
    assert f"{first:%H:%M:%S}" in line
    (address,) = re.findall(r'href="([^"]+)"', line)
    page = client.get(address).content.decode()
    assert page.count("data-row") == 2
    assert client.get("/unchecked/?system=crm").content.decode().count("data-row") == 0
    assert client.get("/unchecked/?system=%00").status_code == 404


def test_home_says_a_whole_number_where_not_all_were_counted(
    blind: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchecked, "CAP", 1)
    assert "2+ effects on <bdi>calendar</bdi>" in client.get("/").content.decode()


def test_the_list_shows_one_twice_leaves_one_out_or_is_read_whole(
    blind: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    Effect.objects.filter(unreached_since__isnull=False).update(unreached_since=rows.now())
    monkeypatch.setattr("repairs.keyset.page", functools.partial(keyset.page, size=1))
    seen, address = [], "/unchecked/?system=calendar"
    for _ in range(2):
        page = client.get(address).content.decode()
        seen += re.findall(r'href="([^"]+)" data-row', page)
        onward = re.search(r'href="([^"]+)" rel="next"', page)
        address = html.unescape(onward[1]) if onward else ""
    assert len(set(seen)) == len(seen) == 2
    assert not address
    assert client.get("/unchecked/?system=calendar&after=cut").status_code == 400


def test_what_could_be_looked_at_since_stays_among_what_could_not(blind: Run, client: Client, world: World) -> None:
    world.scripts.clear()
    Effect.objects.filter(state="unknown").update(due_at=rows.now() - dt.timedelta(seconds=1))
    drain_once(slots=8)
    assert client.get("/unchecked/").content.decode().count("data-row") == 1
    assert not Effect.objects.filter(state="verified").exclude(unreached="").exists()


def test_accepted_work_that_nobody_answers_for_counts_as_fine(
    client: Client, world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    made = tool("jobs.make")
    made.spec["execute"]["poll"] = {"every": 60.0, "within": 3600.0}
    made.save()
    world.script("jobs.make", "execute", "pending")
    world.script("jobs.make", "poll", "unreachable")
    run_through(workflow("jobs.make"))
    Effect.objects.filter(state="pending").update(due_at=rows.now())
    drain_once(slots=8)
    assert "1 effect on <bdi>jobs</bdi>" in client.get("/").content.decode()
    assert "no connection" in client.get("/unchecked/?system=jobs").content.decode()


def test_an_undoing_is_listed_as_what_it_undoes(blind: Run, client: Client) -> None:
    undoing = Effect.objects.filter(unreached_since__isnull=False).earliest("id")
    undoing.kind, undoing.compensates_id = "compensation", Effect.objects.get(state="verified").id
    undoing.id = uuid.uuid4()
    undoing.key = undoing.key[::-1]
    undoing.save(force_insert=True)
    assert f"the undoing of {undoing.step.name}" in re.sub("<.?bdi>", "", client.get("/unchecked/").content.decode())


def test_what_a_person_wrote_off_is_still_to_be_checked(blind: Run, client: Client) -> None:
    Effect.objects.filter(state="stuck").update(state="written_off")
    assert client.get("/unchecked/").content.decode().count("data-row") == 1


def test_the_time_since_is_that_of_a_look_before_one_that_was_answered(blind: Run, world: World) -> None:
    before = Effect.objects.get(state="unknown").unreached_since
    world.scripts.clear()
    world.script("calendar.invite", "look", "inconclusive", *["unreachable"] * 40)
    for _ in range(2):
        Effect.objects.filter(state="unknown").update(due_at=rows.now() - dt.timedelta(seconds=1))
        drain_once(slots=8)
    invite = Effect.objects.get(state="unknown")
    assert invite.unreached_since is not None
    assert before is not None
    assert invite.unreached_since > before


def test_another_teams_effects_are_told_or_reading_takes_more_statements_for_more(blind: Run, person: Make) -> None:
    desk = desk_for(person("reader"))
    with CaptureQueriesContext(connection) as taken:
        assert unchecked.unchecked(desk).count() == 2
        assert len(unchecked.beside_held(desk)[1]) == 1
    assert len(taken) == 2
    other = dataclasses.replace(desk, teams=frozenset({"elsewhere"}))
    assert not unchecked.unchecked(other).exists()
    assert unchecked.beside_held(other) == ([], [])
