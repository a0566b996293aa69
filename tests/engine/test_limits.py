"""What a tool's declared limits hold back, and that it goes on afterwards."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.clock import Clock
from tests.engine import crowd, simulated
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import rows
from workflows.drain import Drain, drain_once
from workflows.models import Effect, Gauge, Run, Tool
from workflows.policies import limits, pace

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BREAKER = {"after": 2, "within": 0.2}


def test_no_more_calls_of_a_tool_are_under_way_than_it_declares(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", limits={"concurrent": 2, "breaker": BREAKER})
    inside, most, lock = [0], [0], threading.Lock()
    together = threading.Barrier(2)

    def enter(call: Any) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        together.wait(timeout=20)
        with lock:
            inside[0] -= 1

    world.inside = enter
    made = workflow("t.a", "t.a", "t.a", "t.a")
    for n, step in enumerate(made.spec["steps"]):
        step.update(name=f"s{n}", after=[])
    made.save()
    run = run_through(made)
    assert (run.state, most[0], len(world.made)) == ("completed", 2, 4)


def test_a_tool_in_trouble_is_left_alone_then_probed_once_then_used_again(
    clock: Clock, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", limits={"concurrent": 8, "breaker": {"after": 2, "within": 60.0}})
    world.script("t.a", "execute", "temporary", "temporary")
    first = begin(workflow("t.a"))
    drain = Drain(4)
    turned(drain, lambda: Gauge.objects.filter(open_until__isnull=False).exists())
    second = begin(workflow("t.a"))
    sent = len(world.sends)
    turned(drain, lambda: Effect.objects.filter(run=second, state="blocked", reason="breaker").exists())
    assert len(world.sends) == sent, "nothing is sent while the breaker is open"
    clock.step(61)
    drain.until_idle()
    drain.close()
    assert [again(run).state for run in (first, second)] == ["completed", "completed"]
    assert Gauge.objects.get().open_until is None


def turned(drain: Drain, holds: Callable[[], bool]) -> None:
    """Turns until it holds; what never comes ends in an error, not in a test that never ends."""
    for _ in range(2000):
        if holds():
            return
        drain.turn()
        drain.wait(0.005)
    raise AssertionError("it never came to that")


def test_a_minute_used_up_blocks_until_the_next_and_says_so(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", limits={"concurrent": 8, "per_minute": 1, "breaker": BREAKER})
    now = rows.now()
    # The minute is counted already, so that the test does not depend on where in a minute it runs.
    for minute in (limits.minute_of(now), limits.minute_of(now) + limits.MINUTE):
        Gauge.objects.update_or_create(tool="t.a", defaults={"minute": minute, "sent": 1})
        if limits.minute_of(rows.now()) == minute:
            break
    run = begin(workflow("t.a"))
    drain_once()
    found = Effect.objects.filter(run=run).first()
    if found is not None and found.state == "blocked":
        assert (found.reason, found.blocked_by[0]["rate"]) == ("rate", "t.a")
        Gauge.objects.update(minute=now - dt.timedelta(hours=1), next_at=now)
        drain_once()
    assert states(again(run)) == {"a forward": "verified present"}


NOW = dt.datetime(2026, 1, 1, 12, 0, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("gauge", "under_way", "slots", "reason"),
    [
        ({}, 0, 3, ""),
        ({}, 3, 0, ""),
        ({"minute": limits.minute_of(NOW), "sent": 8}, 0, 2, "rate"),
        ({"minute": limits.minute_of(NOW), "sent": 10}, 0, 0, "rate"),
        # At half past, half of the minute before counts.
        ({"minute": limits.minute_of(NOW), "sent": 5, "sent_before": 6}, 0, 2, "rate"),
        ({"minute": limits.minute_of(NOW) - limits.MINUTE, "sent": 10}, 0, 3, ""),
        ({"minute": limits.minute_of(NOW) - 2 * limits.MINUTE, "sent": 10}, 0, 3, ""),
        ({"paused_until": NOW + limits.MINUTE}, 0, 0, "rate"),
        ({"pace": 1.0, "paced_at": NOW, "tokens": 1.0, "tokens_at": NOW}, 0, 1, "rate"),
        ({"open_until": NOW + limits.MINUTE}, 0, 0, "breaker"),
        ({"open_until": NOW}, 0, 1, "breaker"),
        ({"open_until": NOW}, 3, 0, ""),
    ],
)
def test_room_is_the_least_of_slots_minute_and_breaker(
    gauge: dict[str, Any], under_way: int, slots: int, reason: str
) -> None:
    found = limits.room(
        {"concurrent": 3, "per_minute": 10, "breaker": BREAKER}, Gauge(tool="t", **gauge), under_way, NOW
    )
    assert (found.slots, found.reason) == (slots, reason)


SECOND = dt.timedelta(seconds=1)


def test_a_pace_doubles_up_to_what_was_well_and_goes_on_by_a_tenth() -> None:
    gauge = Gauge(tool="t")
    pace.begin(gauge, 1.0, NOW, steady=4.0)
    seen = [pace.of(gauge, NOW + n * SECOND) for n in range(5)]
    assert seen == pytest.approx([1.0, 2.0, 4.0, 4.4, 4.84])
    assert pace.of(gauge, NOW + 60 * SECOND) is None, "beyond what anybody needs it is forgotten"


def test_what_fails_within_a_second_halves_the_pace_once() -> None:
    gauge = Gauge(tool="t")
    pace.begin(gauge, 4.0, NOW, steady=4.0)
    for moment in (NOW + 2 * SECOND, NOW + 2.5 * SECOND, NOW + 2.9 * SECOND):
        pace.slow_down(gauge, moment)
    assert gauge.pace == pytest.approx(4.84 / 2)


def test_repeats_are_at_most_a_tenth_of_calls_and_one_a_second_and_those_that_succeed_are_free() -> None:
    gauge = Gauge(tool="t", credit=0.0, credit_at=NOW)
    pace.use_credit(gauge, fresh=30, repeats=0, now=NOW)
    assert limits.room({"breaker": BREAKER}, gauge, 0, NOW).repeats == 3
    pace.use_credit(gauge, fresh=0, repeats=3, now=NOW)
    left = limits.room({"breaker": BREAKER}, gauge, 0, NOW)
    assert (left.repeats, left.again) == (0, NOW + SECOND)
    pace.use_credit(gauge, fresh=0, repeats=-2, now=NOW)
    assert limits.room({"breaker": BREAKER}, gauge, 0, NOW + 5 * SECOND).repeats == 7


def test_who_asks_to_be_left_alone_is_left_alone_by_all_effects_of_the_tool(
    clock: Clock,
    world: World,
    workflow: Make,
    begin: Make,
) -> None:
    """One was told to wait; the other had not asked yet."""
    place = crowd.fresh(now=clock.now, capacity=0.0, wait=30.0)
    spec = {**simulated.spec(limits={"concurrent": 1, "breaker": BREAKER}), "class": "tests.engine.crowd.Crowded"}
    Tool.objects.create(name="t.a", version=1, kind="python", digest="", spec=spec, owner="sim-desk")
    told, other = begin(workflow("t.a")), begin(workflow("t.a"))
    drain = Drain(4)
    clock.pass_time(drain, until=lambda: Effect.objects.filter(reason="rate").exists())
    assert (len(place.calls), Gauge.objects.get().paused_until is not None) == (1, True)
    [waits] = Effect.objects.filter(reason="rate")
    assert waits.blocked_by[0]["rate"] == "t.a"
    place.capacity = 100.0
    clock.pass_time(drain)
    drain.close()
    assert {again(run).state for run in (told, other)} == {"completed"}
    assert place.calls[1][0] - place.calls[0][0] >= 29.0


def test_one_who_was_tried_before_waits_while_the_tool_has_no_credit_for_repeats(
    clock: Clock,
    world: World,
    tool: Make,
    workflow: Make,
    begin: Make,
) -> None:
    tool("t.a", limits={"concurrent": 8, "breaker": {"after": 100, "within": 30.0}})
    world.script("t.a", "execute", "temporary")
    Gauge.objects.create(tool="t.a", credit=-3.0, credit_at=rows.now())
    tried, fresh = begin(workflow("t.a")), begin(workflow("t.a"))
    drain = Drain(4)
    clock.pass_time(drain, until=lambda: Effect.objects.filter(reason="rate", attempts=1).exists())
    assert Run.objects.filter(state="completed").count() <= 1
    begun = clock.now()
    clock.pass_time(drain)
    drain.close()
    assert {again(run).state for run in (tried, fresh)} == {"completed"}
    assert clock.now() - begun >= 2.0, "it waited for its turn"
