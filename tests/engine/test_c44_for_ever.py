"""C44: nothing waits for ever without an owner: what gets no further is shown, and a person has it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection

from tests.clock import Clock
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import ledger, reading, rows
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.engine.overdue import overdue
from workflows.engine.reopen import reopen
from workflows.models import Effect, Wake
from workflows.policies import ages

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
NOW = dt.datetime(2026, 1, 1, 12, 0, tzinfo=dt.UTC)
LATER = dt.timedelta(seconds=1)


def test_what_no_worker_takes_is_told_to_a_person_and_goes_on_when_one_comes(
    clock: Clock, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a", deadline=7200.0))
    advance()
    clock.step(ages.BOUNDS["ready"] - 60)
    assert overdue() == set()
    clock.step(120)
    assert overdue() == {run.id}
    advance()
    stuck = again(run)
    [reason] = stuck.people_reasons
    assert (stuck.state, reason["code"], reason["detail"][:18]) == ("stuck", "no_progress", "no progress since ")
    [case] = reading.cases_of([run.id])[run.id]
    assert (case["owner"], case["state"]) == ("sim-desk", "open")
    assert overdue() == set(), "once"
    drain_once()
    assert again(run).state == "completed"
    assert [case["state"] for case in reading.cases_of([run.id])[run.id]] == ["resolved"]


def test_a_run_that_was_forgotten_goes_on_by_itself(
    clock: Clock, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a", deadline=7200.0))
    Wake.objects.all().delete()
    type(run).objects.filter(id=run.id).update(advance_at=None)
    drain_once()
    assert again(run).state == "running"
    clock.step(ages.OF_A_RUN + 60)
    assert overdue() == {run.id}
    drain_once()
    assert again(run).state == "completed"


def test_a_run_that_is_forgotten_stays_so_because_a_person_said_that_something_is_wrong_with_it(
    clock: Clock, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a", deadline=7200.0))
    reopen(run.id, by="person:other", why="the customer called")
    Wake.objects.all().delete()
    type(run).objects.filter(id=run.id).update(advance_at=None)
    clock.step(ages.OF_A_RUN + 60)
    assert overdue() == {run.id}
    drain_once()
    assert (again(run).phase, [r["code"] for r in again(run).people_reasons]) == ("over", ["person"])


def test_who_waits_behind_one_that_hangs_is_told_to_a_person_too(
    clock: Clock, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", keyed=False, scopes=["thing"])
    world.script("t.a", "look", "differs")
    flow = workflow("t.a", deadline=7200.0)
    hangs, waits = begin(flow), begin(flow)
    drain_once()
    assert (states(again(hangs)), again(waits).state) == ({"a forward": "stuck differs"}, "running")
    clock.step(ages.BOUNDS["blocked order"] + 60)
    assert overdue() == {waits.id}
    advance()
    [reason] = again(waits).people_reasons
    holder = hangs.effects.get()
    assert reason["code"] == "no_progress"
    assert reason["detail"].endswith(f"it is blocked (order); thing is in the hands of effect {holder.id}")


def test_a_lost_lease_is_found_whatever_its_holder_is_called_and_after_the_database_was_away(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    dispatch(1)
    Effect.objects.update(holder="nobody knows", lease_until=rows.now() - LATER)
    real = ledger.wake_runs

    def away(_runs: Any) -> None:
        """The database ends in the middle of the sweep."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(ledger, "wake_runs", away)
    with pytest.raises(OperationalError):
        drain_once()
    connection.close()
    monkeypatch.setattr(ledger, "wake_runs", real)
    drain_once()
    assert states(again(run)) == {"a forward": "verified present"}


@pytest.mark.parametrize(
    ("facts", "allowed"),
    [
        ({"state": "ready", "due_at": NOW + 60 * LATER}, 60 + 900),
        ({"state": "dispatched", "lease_until": NOW + 30 * LATER}, 30 + 120),
        ({"state": "unknown", "looks_until": NOW + 600 * LATER, "due_at": NOW + 9999 * LATER}, 600 + 900),
        ({"state": "pending", "looks_until": NOW + 600 * LATER}, 600 + 900),
        ({"state": "acknowledged", "verifiable": True}, 900),
        ({"state": "blocked", "reason": "order"}, 3600),
        ({"state": "blocked", "reason": "hold", "due_at": NOW + 60 * LATER}, 60 + 86400),
    ],
)
def test_a_state_may_last_so_long(facts: dict[str, Any], allowed: float) -> None:
    effect = Effect(created_at=NOW - 5 * LATER, progress_at=NOW, **{"verifiable": True, **facts})
    assert ages.overdue_since(effect, NOW + allowed * LATER) is None
    assert ages.overdue_since(effect, NOW + (allowed + 1) * LATER) == NOW


@pytest.mark.parametrize("state", ["verified", "stuck", "failed", "cancelled", "undone", "written_off"])
def test_what_waits_for_nothing_is_never_overdue(state: str) -> None:
    assert ages.overdue_since(Effect(state=state, created_at=NOW, verifiable=True), NOW + 10**6 * LATER) is None
