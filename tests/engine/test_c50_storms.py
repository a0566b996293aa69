"""C50: after an outage a provider meets as much as it can take, and grows into it; nothing is lost meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.clock import Clock
from tests.engine import crowd, simulated
from tests.engine.simulated import World
from workflows.drain import Drain
from workflows.models import Run, Tool
from workflows.policies import pace

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
MANY = 20
CAPACITY = 4.0  # calls a second
OUTAGE = 30.0
LIMITS = {"concurrent": 64, "breaker": {"after": 5, "within": 10.0}}


def declare(**limits: Any) -> None:
    spec = {**simulated.spec(limits={**LIMITS, **limits}), "class": "tests.engine.crowd.Crowded"}
    spec["retry"] = {"attempts": 30, "first": 1.0, "max": 30.0, "within": 3600.0}
    spec["verify"] |= {"every": 1.0, "within": 3600.0}
    Tool.objects.create(name="t.a", version=1, kind="python", digest="", spec=spec, owner="sim-desk")


@pytest.mark.parametrize(("guard", "down"), [("on", "not_sent"), ("on", "unknown"), ("off", "not_sent")])
def test_a_backlog_meets_who_comes_back_with_as_much_as_it_can_take(
    guard: str,
    down: str,
    clock: Clock,
    world: World,
    workflow: Make,
    begin: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Off: once its breaker is closed a tool is used as if nothing had been."""
    if guard == "off":
        monkeypatch.setattr(pace, "begin", lambda *_args, **_options: None)
    place = crowd.fresh(now=clock.now, up_at=clock.now() + OUTAGE, capacity=CAPACITY, down=down)
    begun = clock.now()
    declare()
    flow = workflow("t.a", deadline=7200.0)
    for _ in range(MANY):
        begin(flow)
    drain = Drain(slots=64)
    clock.pass_time(drain, until=lambda: not Run.objects.exclude(phase="over").exists())
    drain.close()
    ends = Counter(Run.objects.values_list("state", flat=True))
    assert ends == {"completed": MANY}, "something was lost"
    busiest = place.busiest(place.up_at)
    if guard == "on":
        assert busiest <= 2 * CAPACITY + 4, "a crowd"
        turned_away = sum(1 for at, well in place.calls if at >= place.up_at and not well)
        assert turned_away <= 0.2 * len(place.calls)
        assert place.busiest(begun + 2.0) <= max(busiest, 2 * CAPACITY + 4), "nor before"
    else:
        assert busiest > 3 * CAPACITY
