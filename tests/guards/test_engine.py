"""Each guard of the engine in a pair: with it the promise holds, and with it patched away the same scenario breaks."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest
from django.db import transaction

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import bells, ledger, rows
from workflows.authority import grants, policy
from workflows.drain import Drain, drain_once
from workflows.engine import call, dispatch, look, record
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.parts import promises
from workflows.engine.recover import recover
from workflows.models import Attempt, Effect
from workflows.outcomes import Refused
from workflows.policies import after_look
from workflows.policies.next import Next

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])
PATIENCE = 20.0  # seconds: how long a test waits for what must come


class Killed(Exception):
    """Stands for the end of the process."""


@contextlib.contextmanager
def drain() -> Iterator[Drain]:
    work = Drain(slots=8)
    try:
        yield work
    finally:
        work.close()


def until(holds: Callable[[], bool], work: Drain) -> None:
    """Turns until it holds."""
    for _ in range(1000):
        work.turn()
        if holds():
            return
        work.wait(0.01)
    raise AssertionError("it never came to that")


def lose_lease(effect: Effect) -> None:
    """As if its worker had been away for an hour."""
    Effect.objects.filter(id=effect.id).update(lease_until=rows.now() - dt.timedelta(hours=1))
    assert recover() == {effect.id}


@on_and_off
def test_a_worker_that_dies_in_the_middle_of_a_call_leaves_its_intent_behind(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: calls begin before the transaction that dispatches them is committed."""
    tool("t.a")
    begin(workflow("t.a"))
    seen: list[Any] = []

    def look_from_outside(_call: Any) -> None:
        with bells.connect() as other:
            sql = "SELECT state, world, (SELECT count(*) FROM workflows_attempt) FROM workflows_effect"
            seen.append(other.execute(sql).fetchone())

    world.inside = look_from_outside
    real = Drain._send

    def send_and_die(self: Drain) -> bool:
        with contextlib.nullcontext() if guard == "on" else transaction.atomic():
            if real(self):
                wait(self._sends)
                self._sends.clear()
                raise Killed
        return False

    monkeypatch.setattr(Drain, "_send", send_and_die)
    with pytest.raises(Killed):
        drain_once()
    assert len(world.things) == 1
    intent = ("dispatched", "unknown", 1) if guard == "on" else ("ready", "nothing", 0)
    assert seen == [intent]
    effect = Effect.objects.get()
    assert (effect.state, effect.world, Attempt.objects.count()) == intent, "off: nobody would ever look for it"


@on_and_off
def test_a_late_worker_changes_nothing(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: what is written is guarded by states alone. The late refusal speaks of a send that was given up long ago."""
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    late = dispatch.dispatch(1)[0]
    lose_lease(late)
    inside, go = threading.Event(), threading.Event()

    def stay(_call: Any) -> None:
        inside.set()
        assert go.wait(PATIENCE)

    world.inside = stay
    if guard == "off":
        real = ledger.effect_guard
        monkeypatch.setattr(ledger, "effect_guard", lambda effect: {"states": real(effect)["states"]})
    with drain() as work:
        until(inside.is_set, work)
        record.record([(late, Refused(reason="no"))])
        after = Effect.objects.get().state
        go.set()
        work.until_idle()
    if guard == "on":
        assert after == "dispatched"
        assert states(again(run)) == {"a forward": "verified present"}
        assert [attempt.stale for attempt in Attempt.objects.order_by("id")] == [True, False]
    else:
        assert (after, len(world.made)) == ("failed", 1), "it was said to have done nothing while it was being done"


@on_and_off
def test_a_look_comes_before_any_second_send_after_an_unknown_outcome(
    guard: str, world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: unknown is taken for absent."""
    tool("t.a", keyed=False)
    world.honours_keys = False
    world.script("t.a", "execute", "lost_after")
    if guard == "off":
        real = look._decide

        def resend(effect: Effect, answer: Any, begun: Any, now: Any) -> Next:
            if effect.state == "unknown":
                return Next(move="resend", fields={"due_at": now, "absent": True})
            return real(effect, answer, begun, now)

        monkeypatch.setattr(look, "_decide", resend)
    run_through(workflow("t.a"))
    assert len(world.made) == (1 if guard == "on" else 2)


@on_and_off
def test_a_miss_is_not_believed_while_reads_may_lag_behind(
    guard: str, world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: every miss counts, also within the settle time."""
    stored = tool("t.a", keyed=False)
    stored.spec["verify"]["settle"] = 0.2
    stored.save()
    world.honours_keys = False
    world.script("t.a", "execute", "lost_after")
    world.script("t.a", "look", "absent")
    if guard == "off":
        monkeypatch.setattr(after_look, "counts", lambda *_: True)
        monkeypatch.setattr(promises, "keep", lambda effects, *_: list(effects))  # it would search once more
    run_through(workflow("t.a"))
    assert len(world.made) == (1 if guard == "on" else 2)


@on_and_off
def test_two_effects_on_one_scope_are_never_in_flight_together(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: no holds are taken."""
    tool("t.a", scopes=["contact:1"])
    runs = [begin(workflow("t.a")) for _ in range(2)]
    inside = threading.Semaphore(0)
    go = threading.Event()

    def stay(_call: Any) -> None:
        inside.release()
        assert go.wait(PATIENCE)

    world.inside = stay
    if guard == "off":
        monkeypatch.setattr(dispatch, "_take_scopes", lambda effects, *_: effects)
    with drain() as work:
        until(lambda: not Effect.objects.filter(state="ready").exists() and Effect.objects.count() == 2, work)
        assert inside.acquire(timeout=PATIENCE)
        second = Effect.objects.get(run=runs[1])
        if guard == "on":
            first = Effect.objects.get(run=runs[0])
            assert (second.state, second.reason) == ("blocked", "order")
            assert second.blocked_by == [{"scope": "contact:1", "effect": str(first.id)}], "who waits shows for whom"
            assert not inside.acquire(blocking=False)
        else:
            assert second.state == "dispatched"
            assert inside.acquire(timeout=PATIENCE), "both are inside"
        go.set()
        work.until_idle()
    assert {again(run).state for run in runs} == {"completed"}


@on_and_off
def test_policy_is_asked_at_the_door_on_present_facts(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: what was allowed when it was asked for stays allowed."""
    tool("t.a")
    run = begin(workflow("t.a"))
    agent.tools = []
    agent.save()
    if guard == "off":
        monkeypatch.setattr(grants, "refused_now", lambda *_, **__: None)
        monkeypatch.setattr(policy, "decide", lambda *_: policy.Verdict(policy.ALLOW, "as it was asked"))
    drain_once()
    assert len(world.sends) == (0 if guard == "on" else 1)
    assert states(again(run)) == {"a forward": "cancelled nothing" if guard == "on" else "verified present"}


@on_and_off
def test_what_was_cancelled_after_its_dispatch_is_not_called(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: stops are not read again right before the calls start."""
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    effects = dispatch.dispatch(1)
    cancel(agent, run.id, reason="the customer left")
    if guard == "off":
        monkeypatch.setattr(call, "still_allowed", lambda effects: ({e.id for e in effects}, set()))
    with ThreadPoolExecutor(1) as pool:
        jobs = call.begin(effects, pool, effects[0].sending.started_at)
        record.record([(effect, future.result()) for effect, future in jobs])
    assert len(world.sends) == (0 if guard == "on" else 1)
    drain_once()
    assert states(again(run))["a forward"] == ("cancelled nothing" if guard == "on" else "undone gone")


@on_and_off
def test_a_call_does_not_begin_when_its_lease_would_end_before_its_answer(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that slept between dispatch and call. Off: it calls all the same, after others gave it up."""
    tool("t.a")
    begin(workflow("t.a"))
    advance()
    effects = dispatch.dispatch(1)
    effects[0].sending.began -= 3600
    if guard == "off":
        monkeypatch.setattr(call, "LEASE_SPARE", -3600 - 60)
    lose_lease(effects[0])
    monkeypatch.setattr(
        call, "still_allowed", lambda effects: ({e.id for e in effects}, set())
    )  # it read them before it slept
    with ThreadPoolExecutor(1) as pool:
        [(_, future)] = call.begin(effects, pool, effects[0].sending.started_at)
        future.result()
    assert len(world.sends) == (0 if guard == "on" else 1)
