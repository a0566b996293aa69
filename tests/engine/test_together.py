"""One worker makes many calls at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.drain import Drain, drain_once
from workflows.tools.call import Call

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
EIGHT = 8
PATIENCE = 60.0  # seconds; who calls one after another waits all of it, and fails


def test_eight_calls_to_a_provider_that_answers_only_when_eight_are_inside_succeed_on_one_worker(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")
    runs = [begin(flow) for _ in range(EIGHT)]
    inside = threading.Barrier(EIGHT)

    def enter(_call: Call) -> None:
        inside.wait(PATIENCE)

    world.inside = enter
    drain_once()
    assert [states(again(run)) for run in runs] == [{"a forward": "verified present"}] * EIGHT
    assert len(world.sends) == EIGHT


def test_calls_that_hang_leave_looks_their_own_slots(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    """All slots for sends are taken by calls that wait for a look to have happened."""
    tool("t.a")
    tool("t.slow")
    quick = begin(workflow("t.a"))
    drain = Drain(2)
    looked = threading.Event()

    def hang(call: Call) -> None:
        if call.arguments["of"] == "slow":
            assert looked.wait(PATIENCE)

    world.inside = hang
    world.script("t.a", "look", "unreachable")  # the first look doesn't settle it; the second finds slots taken
    slow = [begin(workflow("t.slow")) for _ in range(2)]
    try:
        for _ in range(1000):
            if not drain.turn():
                drain.wait(0.05)
            if states(again(quick)).get("a forward") == "verified present":
                break
        looked.set()
        drain.until_idle()
    finally:
        looked.set()
        drain.close()
    assert states(again(quick)) == {"a forward": "verified present"}
    assert [again(run).state for run in slow] == ["completed"] * 2
