"""Who waited for a budget goes before who came later, and what nobody reads any more of it is not kept for ever."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from tests.authority.purse import beside_each_other, drained_by, give, taken
from tests.engine.simulated import World
from workflows import rows, tasks
from workflows.authority import old_reservations
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.dispatch import dispatch
from workflows.engine.release import release
from workflows.models import Agent, Budget, Effect, Reservation, Run, Wake

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
A_WHILE = dt.timedelta(days=9)


@pytest.fixture
def older(world: World, tool: Make, workflow: Make, run_through: Make) -> Effect:
    """It waits for the next minute of a budget that another took all of."""
    tool("t.a")
    give("agent:sim", "minute", calls=1)
    run_through(workflow("t.a"))
    waits: Run = run_through(workflow("t.a"))
    effect = Effect.objects.get(run=waits)
    assert (effect.reason, effect.blocked_by[0]["waits"]) == ("budget", "window")
    return effect


def next_window() -> None:
    """As if the minute were over: what was taken belongs to one before."""
    Budget.objects.update(window=F("window") - dt.timedelta(minutes=1))
    Effect.objects.filter(state="blocked", reason="budget").update(due_at=rows.now())


def raised() -> None:
    Budget.objects.update(limits={"calls": 2}, revision=F("revision") + 1)


@pytest.mark.parametrize("eased", [next_window, raised])
def test_who_comes_later_does_not_take_what_somebody_older_waited_for(
    older: Effect, workflow: Make, begin: Make, eased: Callable[[], None]
) -> None:
    """The worker that saw the younger one first: the older one isn't released yet."""
    younger = Effect.objects.get(run=_advanced(begin(workflow("t.a"))))
    eased()
    assert dispatch(8) == []
    assert Effect.objects.get(id=younger.id).state == "ready", "it is asked again at once, and never told to wait"
    release(8)
    assert [effect.id for effect in dispatch(8)] == [older.id]
    assert Effect.objects.get(id=younger.id).reason == "budget"


def test_an_undoing_stands_in_line_behind_who_waits_for_a_budget(
    world: World, tool: Make, workflow: Make, run_through: Make, agent: Agent
) -> None:
    """It draws on what was set aside for it, so that it takes nothing from who came before."""
    tool("t.a")
    tool("t.b")
    give("agent:sim", "minute", calls=1)
    younger = run_through(workflow("t.a", "t.b"))
    older = Effect.objects.get(run=run_through(workflow("t.a")), reason="budget")
    Run.objects.filter(id=younger.id).update(epoch=older.epoch + 1)
    cancel(agent, younger.id, reason="the customer left")
    for _ in range(2):  # its second step is called off, then its first undone
        advance()
    undoing = Effect.objects.get(run=younger, kind="compensation")
    assert undoing.epoch > older.epoch
    next_window()
    assert [effect.id for effect in dispatch(8)] == [undoing.id]


def test_until_its_time_comes_who_waits_keeps_nothing_from_others(
    older: Effect, tool: Make, workflow: Make, begin: Make
) -> None:
    """What it needs isn't there before the next minute, so that what is there would be lost."""
    Budget.objects.update(limits={"calls": 2})
    younger = Effect.objects.get(run=_advanced(begin(workflow("t.a"))))
    assert [effect.id for effect in dispatch(8)] == [younger.id]


def test_the_line_costs_one_statement_however_many_stand_in_it(older: Effect, workflow: Make, begin: Make) -> None:
    numbers = []
    for more in (1, 20):
        for _ in range(more):
            _advanced(begin(workflow("t.a")))
        Effect.objects.filter(state="blocked", reason="budget").update(due_at=rows.now())
        with CaptureQueriesContext(connection) as queries:
            assert dispatch(64) == []
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]


def _advanced(run: Run) -> Run:
    advance()
    return run


def test_eight_workers_spend_a_budget_once(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    budget = give("agent:sim", calls=10)
    flow = beside_each_other(workflow(*["t.a"] * 8))
    for _ in range(4):
        begin(flow)
    drained_by(8, slots=4)
    drain_once()
    assert len(world.sends) == 10
    assert taken(budget) == ({"calls": 10, "effects": 10}, {})


def test_who_tells_a_run_that_a_person_is_needed_waits_for_another_who_sends_for_it(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Both hold the run in share; were one to ask for more, each would wait for the other."""
    tool("t.a")
    give("agent:sim", calls=0)
    run = _advanced(begin(workflow("t.a")))
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT id FROM workflows_run WHERE id = %s FOR SHARE", [run.id])
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '500ms'")
        assert dispatch(8) == []
    finally:
        other.rollback()
        other.close()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    assert Effect.objects.get(run=run).blocked_by[0]["waits"] == "person"
    assert Wake.objects.filter(run=run).exists()


def test_what_was_taken_of_a_window_that_is_long_over_is_kept_for_ever(
    older: Effect, monkeypatch: pytest.MonkeyPatch
) -> None:
    give("agent:sim", calls=100)
    next_window()
    drain_once()
    assert Reservation.objects.count() == 3, "two of minutes, one of the budget for ever"
    tasks.sweep()
    assert Reservation.objects.count() == 3
    Reservation.objects.filter(window__isnull=False).update(window=F("window") - A_WHILE)
    Reservation.objects.filter(window__isnull=False).filter(effect=older.id).update(open=True)
    tasks.sweep()
    left = Reservation.objects.order_by("id")
    assert {row.effect_id for row in left} == {older.id}, "what somebody still has to come back to is left"
    assert left.filter(window=None).exists(), "what counts for ever is left"
    Reservation.objects.update(open=False)
    monkeypatch.setattr(old_reservations, "MOST", 1)
    assert (old_reservations.forget(), old_reservations.forget()) == (1, 0)
