"""What a tool's declared limits hold back, and that it goes on afterwards."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import rows
from workflows.drain import Drain, drain_once
from workflows.models import Effect, Gauge
from workflows.policies import limits

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
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", limits={"concurrent": 8, "breaker": BREAKER})
    world.script("t.a", "execute", "temporary", "temporary")
    first = begin(workflow("t.a"))
    drain = Drain(4)
    while not Gauge.objects.filter(open_until__isnull=False).exists():
        drain.turn()
        drain.wait(0.01)
    second = begin(workflow("t.a"))
    sent = len(world.sends)
    while not Effect.objects.filter(state="blocked", reason="breaker").exists():
        drain.turn()
        drain.wait(0.005)
    assert len(world.sends) == sent, "nothing is sent while the breaker is open"
    drain.until_idle()
    drain.close()
    assert [again(run).state for run in (first, second)] == ["completed", "completed"]
    assert Gauge.objects.get().open_until is None


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
        Gauge.objects.update(minute=now - dt.timedelta(hours=1))
        Effect.objects.filter(id=found.id).update(due_at=now)
        drain_once()
    assert states(again(run)) == {"a forward": "verified present"}


class Counted:
    def __init__(self, **fields: Any) -> None:
        self.minute = self.open_until = self.failing_since = None
        self.sent = self.failures = 0
        self.__dict__.update(fields)


NOW = dt.datetime(2026, 1, 1, 12, 0, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("gauge", "under_way", "slots", "reason"),
    [
        ({}, 0, 3, ""),
        ({}, 3, 0, ""),
        ({"minute": limits.minute_of(NOW), "sent": 8}, 0, 2, "rate"),
        ({"minute": limits.minute_of(NOW), "sent": 10}, 0, 0, "rate"),
        ({"minute": NOW - limits.MINUTE, "sent": 10}, 0, 3, ""),
        ({"open_until": NOW + limits.MINUTE}, 0, 0, "breaker"),
        ({"open_until": NOW}, 0, 1, "breaker"),
        ({"open_until": NOW}, 3, 0, ""),
    ],
)
def test_room_is_the_least_of_slots_minute_and_breaker(
    gauge: dict[str, Any], under_way: int, slots: int, reason: str
) -> None:
    found = limits.room({"concurrent": 3, "per_minute": 10, "breaker": BREAKER}, Counted(**gauge), under_way, NOW)
    assert (found.slots, found.reason) == (slots, reason)
