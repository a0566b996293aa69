"""Cases that were closed and are open again: by what the world proved, or by what a person knows; each says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from repairs import cases
from repairs.acts import claim, reopen
from repairs.models import Act, Case
from tests.engine.simulated import World
from workflows import ledger, rows
from workflows.drain import drain_once
from workflows.engine import people
from workflows.engine import reopen as runs
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def closed(stuck: Make, world: World) -> Case:
    """Its undoing was found done after all."""
    case: Case = stuck()
    effect = Effect.objects.get(state="stuck")
    world.things.clear()
    people.look_again(effect.id, by="person:other", why="it is gone")
    drain_once()
    found = Case.objects.select_related("run").get(id=case.id)
    assert (found.state, found.run.state) == ("resolved", "compensated")
    return found


def now_of(case: Case) -> Case:
    return Case.objects.select_related("run").get(id=case.id)


def test_a_case_that_opened_again_says_not_why(stuck: Make, repairer: User, browse: Make) -> None:
    case = stuck()
    run = Run.objects.select_related("workflow", "agent").get(id=case.run_id)
    needs = run.people_reasons
    for run.needs_person, run.people_reasons in ((False, []), (True, needs)):
        with transaction.atomic():
            cases.follow([run])
    said = "the undoing of contact: the provider refused for good to undo it"
    assert now_of(case).reopened_why == said
    client = browse(repairer)
    assert f"last because <bdi>{said}</bdi>" in client.get(f"/repairs/{case.number}/").content.decode()
    assert f"Opened again: <bdi>{said}</bdi>." in client.get("/repairs/").content.decode()


def test_what_a_person_knows_opens_no_case_or_sends_something(
    closed: Case, repairer: User, browse: Make, world: World
) -> None:
    client, sends = browse(repairer), len(world.sends)
    assert "Open the case again" in client.get(f"/repairs/{closed.number}/").content.decode()
    refused = client.post(f"/repairs/{closed.number}/reopen", {"why": " "})
    assert (refused.status_code, "<details open>" in refused.content.decode()) == (400, True)
    client.post(f"/repairs/{closed.number}/reopen", {"why": "the customer still sees it"})
    case = now_of(closed)
    assert (case.state, case.run.state, case.run.phase, case.claimed_by) == ("open", "stuck", "over", repairer)
    assert (case.reopened, case.reopened_why) == (1, "the customer still sees it")
    drain_once()
    assert (now_of(case).state, len(world.sends)) == ("open", sends), "the engine takes it as settled"
    page = client.get(f"/repairs/{case.number}/").content.decode()
    assert "a person says that something is still wrong" in page
    assert "then close the case" in page
    done = client.post(f"/repairs/{case.number}/close", {"why": "a stale page of theirs", "fence": case.fence})
    assert done.status_code == 302
    after = now_of(case)
    assert (after.state, after.run.state, after.run.is_clean) == ("resolved", "compensated", False)
    assert [act.kind for act in Act.objects.filter(case=case)] == ["reopen", "claim", "close"]
    assert Entry.objects.filter(subject_id=case.run_id, actor="person:repairer").count() == 2


def test_a_case_that_needs_a_person_for_more_is_closed_by_a_word(stuck: Make, repairer: User, person: Make) -> None:
    case = stuck()
    with pytest.raises(Invalid, match="word alone: refused"):
        reopen.close(case.id, by=repairer, why="enough", fence=case.fence)
    assert Act.objects.get(kind="close").outcome == "refused"
    with pytest.raises(StaleFence, match="is open by now"):
        reopen.reopen(case.id, by=repairer, why="x")
    with pytest.raises(Denied):
        reopen.reopen(case.id, by=person("reader", "manager"), why="x")
    assert now_of(case).state == "open"


def test_somebody_else_closes_what_another_holds(closed: Case, repairer: User, person: Make) -> None:
    reopen.reopen(closed.id, by=repairer, why="they still see it")
    with pytest.raises(StaleFence, match="repairer holds"):
        reopen.close(closed.id, by=person("night-desk", "repairer"), why="x", fence=now_of(closed).fence)
    claim.release(closed.id, by=repairer)
    with pytest.raises(Invalid, match="already"):
        runs.reopen(closed.run_id, by="person:other", why="x")
    runs.settle(closed.run_id, by="person:other", why="a stale page of theirs")
    with pytest.raises(Invalid, match="closed"):
        runs.settle(closed.run_id, by="person:other", why="x")


def test_what_the_engine_finds_wrong_meanwhile_makes_a_person_s_word_forgotten(
    closed: Case, repairer: User, world: World
) -> None:
    reopen.reopen(closed.id, by=repairer, why="they still see it")
    undoing = Effect.objects.get(run=closed.run_id, kind="compensation")
    with transaction.atomic():
        ledger.wake_runs([closed.run_id])
        again = Effect.objects.select_for_update().get(id=undoing.id)
        again.stick(reason="reversed", detail="it is there again", world="nothing")
        ledger.save_effects([again], now=rows.now())
    drain_once()
    case = now_of(closed)
    assert sorted(reason["code"] for reason in case.run.people_reasons) == ["person", "reversed"]
    with pytest.raises(Invalid):
        reopen.close(case.id, by=repairer, why="x", fence=case.fence)
