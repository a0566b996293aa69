"""Two drains at once: each effect is called by one of them, whoever comes second returns quietly."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.drain import Drain, drain_once
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.holders import place
from workflows.models import Attempt, Effect
from workflows.proof import Flaw, verify

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
PATIENCE = 20.0  # seconds


def test_while_one_drain_is_in_the_call_another_makes_none(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    inside, go = threading.Event(), threading.Event()

    def stay(_call: Any) -> None:
        inside.set()
        assert go.wait(PATIENCE)

    world.inside = stay
    first, second = Drain(slots=2), Drain(slots=2)
    try:
        while not inside.is_set():
            first.turn()
        for _ in range(5):
            second.turn()
        assert (second.under_way, len(world.sends)) == (0, 1)
        go.set()
        first.until_idle()
    finally:
        first.close()
        second.close()
    assert states(again(run)) == {"a forward": "verified present"}


def test_a_living_drain_finds_what_a_dead_worker_of_its_host_held(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """It may live on for long: nobody begins anew, and the lease is not over."""
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    [held] = dispatch(1)
    gone = f"{place()}:{os.getpid()}:1"  # another process of this number, begun with the machine
    Effect.objects.filter(id=held.id).update(holder=gone)
    drain_once()
    assert states(again(run)) == {"a forward": "verified present"}
    assert len(world.sends) == 1


def test_drains_that_race_for_everything_call_each_effect_once(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Some share scopes, some fail and are undone: every transaction of the engine meets its like."""
    tool("t.a", scopes=["thing:${ args.of }"])
    tool("t.b")
    tool("t.c")
    world.script("t.c", "execute", *["refused", "well", "lost_after"] * 4)
    made = workflow("t.a", "t.b", "t.c", after={"b": []})
    runs = [begin(made) for _ in range(12)]
    start, troubles = threading.Barrier(3), []

    def work() -> None:
        drain = Drain(slots=4)
        try:
            start.wait(PATIENCE)
            drain.until_idle(60)
        except BaseException as trouble:
            troubles.append(trouble)
            raise
        finally:
            drain.close()
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    ends = Counter(again(run).state for run in runs)
    assert (ends["completed"], ends["compensated"] + ends["stuck"]) == (8, 4)
    assert set(Effect.objects.filter(state="stuck").values_list("reason", flat=True)) <= {"dependants"}
    assert set(Counter(world.sends).values()) == {1}, "a call was made twice"
    assert Attempt.objects.count() == len(world.sends) == Effect.objects.filter(attempts=1).count()
    assert not Attempt.objects.filter(stale=True).exists()
    flaws: list[Flaw] = []
    verify(flaws.append)
    assert flaws == []
