"""Days after an undoing was seen it is looked at again; what is there then needs a person, once, and has a way back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import ledger, rows
from workflows.drain import drain_once
from workflows.engine import people
from workflows.engine.advance import advance
from workflows.errors import Invalid
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
LATER = [86_400.0, 604_800.0]


@pytest.fixture
def undone(world: World, tool: Make, workflow: Make, run_through: Make) -> Run:
    """A run whose first act was undone, which is looked at again a day and a week later."""
    made = tool("t.a", scopes=["thing:one"])
    made.spec["compensate"]["recheck"] = LATER
    made.save()
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run: Run = run_through(workflow("t.a", "t.b"))
    assert run.state == "compensated"
    return run


def effect(run: Run, kind: str, **wanted: Any) -> Effect:
    return Effect.objects.get(run=run, kind=kind, step__name="a", **wanted)


def seen_at(run: Run) -> dt.datetime:
    found = effect(run, "compensation").verified_at
    assert found is not None
    return found


def later(run: Run, days: int = 1) -> None:
    """So many days pass for the undoing."""
    Effect.objects.filter(run=run, kind="compensation").exclude(due_at=None).update(
        due_at=effect(run, "forward").created_at,
        verified_at=seen_at(run) - dt.timedelta(days=days),
    )
    drain_once()


def test_an_undoing_that_stays_is_looked_at_as_often_as_declared_and_nobody_is_bothered(
    world: World, undone: Run
) -> None:
    undoing = effect(undone, "compensation")
    assert undoing.due_at is not None
    assert (undoing.due_at - seen_at(undone)).days == 1
    later(undone)
    undoing = effect(undone, "compensation")
    assert undoing.due_at is not None
    assert undoing.due_at > seen_at(undone), "the look a week later is still to come"
    later(undone, days=7)
    assert effect(undone, "compensation").due_at is None
    assert (again(undone).phase, again(undone).state) == ("over", "compensated")


def test_what_is_there_again_days_later_reopens_its_run_once(world: World, undone: Run) -> None:
    world.things[effect(undone, "forward").key] = {}
    later(undone)
    run = again(undone)
    assert (run.phase, run.state, [r["code"] for r in run.people_reasons]) == ("unwinding", "stuck", ["reversed"])
    assert states(run)["a forward"] == "stuck present", "it is said to be gone"
    sends = len(world.sends)
    drain_once()
    assert (len(world.sends), again(run).seq) == (sends, run.seq)


def test_what_is_there_again_is_undone_once_more_when_a_person_says_so_under_a_new_key(
    world: World, undone: Run
) -> None:
    forward = effect(undone, "forward")
    world.things[forward.key] = {}
    later(undone)
    people.undo_again(forward.id, by="person:night desk", why="the provider restored it")
    drain_once()
    keys = [key for name, operation, key in world.sends if (name, operation) == ("t.a", "compensate")]
    assert len(set(keys)) == 2
    assert world.things == {}
    assert states(undone)["a forward"] == "undone gone"
    assert (again(undone).state, again(undone).needs_person) == ("repaired", False)


def test_a_late_yes_after_the_undoing_can_be_undone_once_more(world: World, undone: Run) -> None:
    """The known gap: it could only be written off together with its run."""
    forward = effect(undone, "forward")
    world.things[forward.key] = {}
    forward.stick(reason="late_answer", detail="a yes came", world="unknown")
    with transaction.atomic():
        ledger.wake_runs([undone.id])
        ledger.save_effects([forward], now=rows.now())
    advance()
    with pytest.raises(Invalid, match="look first"):
        people.undo_again(forward.id, by="person:night desk", why="it came back")
    people.look_again(forward.id, by="person:night desk", why="is it there?")
    drain_once()
    found = effect(undone, "forward")
    assert (found.state, found.world, found.reason) == ("stuck", "present", "reversed")
    assert [r["code"] for r in again(undone).people_reasons] == ["reversed"]
    people.undo_again(forward.id, by="person:night desk", why="it came back")
    drain_once()
    assert (world.things, states(undone)["a forward"]) == ({}, "undone gone")


def test_only_what_was_undone_and_is_there_again_is_undone_again(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    run = run_through(workflow("t.a"))
    with pytest.raises(Invalid, match="isn't over"):
        people.undo_again(Effect.objects.get(run=run).id, by="person:night desk", why="by mistake")


def test_a_look_that_is_never_clear_days_later_goes_to_a_person(world: World, undone: Run) -> None:
    for _ in range(13):
        world.script("t.a", "look_undone", "unreachable")
        Effect.objects.filter(run=undone, kind="compensation").exclude(due_at=None).update(
            due_at=effect(undone, "forward").created_at
        )
        drain_once()
    assert effect(undone, "compensation").reason == "unreachable"
    assert again(undone).needs_person
