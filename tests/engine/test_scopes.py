"""Scopes between runs: one at a time, in the order of epochs, handed on without a gap, and everybody sees for whom."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.drain import Drain, drain_once
from workflows.engine import people
from workflows.engine.cancel import cancel
from workflows.engine.overdue import overdue
from workflows.engine.seal import seal
from workflows.engine.start import StartBody, start_run
from workflows.engine.steps import StepBody, add_step
from workflows.models import Effect, Run, ScopeHold
from workflows.reading import run_in_full

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
ONE = ["thing:one"]


def test_waiters_of_one_scope_go_one_by_one_in_the_order_in_which_their_runs_began(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", scopes=ONE)
    flow = workflow("t.a")
    runs = [begin(flow) for _ in range(4)]
    world.script("t.a", "execute", "lost_after")  # the first holds it until a look has settled it
    order: list[str] = []
    world.inside = lambda call: order.append(call.run["id"])
    drain_once(slots=4)
    assert order == [str(run.id) for run in runs]
    assert {again(run).state for run in runs} == {"completed"}


def test_who_waits_is_told_the_whole_chain_of_those_it_waits_for(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """first is stuck on one; middle, given back, still holds two and waits for one; last waits for two."""
    tool("t.first", scopes=["thing:one"])
    tool("t.middle", scopes=["thing:one", "thing:two"])
    tool("t.last", scopes=["thing:two"])
    world.script("t.first", "look", "several")
    first = begin(workflow("t.first"))
    drain_once(slots=4)
    middle = begin(workflow("t.middle"))
    drain_once(slots=4)
    held = Effect.objects.get(run=middle)
    ScopeHold.objects.create(scope="thing:two", effect=held, since=held.created_at)
    last = begin(workflow("t.last"))
    drain_once(slots=4)
    shown = run_in_full(again(last))["blocked_by"]
    assert [(wait["reason"], [link["run"] for link in wait["chain"]]) for wait in shown] == [
        ("order", [str(middle.id), str(first.id)])
    ]
    end = shown[0]["chain"][-1]
    assert (end["state"], end["reason"], end["needs_person"], end["scope"]) == ("stuck", "several", True, "thing:one")


def test_who_waits_too_long_gets_a_person_who_is_told_whose_hands_the_scope_is_in(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """The blocker hangs: the waiter is neither passed over nor forgotten."""
    tool("t.first", scopes=ONE)
    tool("t.last", scopes=ONE)
    world.script("t.first", "look", "several")
    first = begin(workflow("t.first"))
    drain_once(slots=4)
    last = begin(workflow("t.last"))
    drain_once(slots=4)
    long_ago = first.created_at - dt.timedelta(hours=3)
    Effect.objects.filter(run=last).update(progress_at=long_ago, created_at=long_ago, due_at=long_ago)
    Run.objects.filter(id=last.id).update(changed_at=long_ago)
    assert overdue() == {last.id}
    drain_once(slots=4)
    (reason,) = again(last).people_reasons
    assert (reason["code"], again(last).state) == ("no_progress", "stuck")
    assert f"thing:one is in the hands of effect {Effect.objects.get(run=first).id}" in reason["detail"]
    assert [name for name, _, _ in world.sends] == ["t.first"]


def falls_back(world: World, tool: Make) -> None:
    """t.a is to be undone, which is refused; t.other stands in for that."""
    made = tool("t.a", scopes=ONE)
    made.spec["compensate"]["fallbacks"] = ["t.other"]
    made.save()
    tool("t.other", undo=False)
    tool("t.b")
    world.script("t.b", "execute", "refused")
    world.script("t.a", "compensate", "refused")


def test_a_refused_undoing_hands_its_scope_to_its_fallback_without_a_moment_in_which_it_is_free(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    falls_back(world, tool)
    run = begin(workflow("t.a", "t.b"))
    drain = Drain(slots=4)
    try:
        while not Effect.objects.filter(run=run, generation=1).exists():
            sent = Effect.objects.filter(run=run, kind="compensation", attempts=1).exists()
            if not drain.turn(claim=not sent):  # once the undoing is answered nothing else is begun
                drain.rest(0.01)
    finally:
        drain.close()
    assert ScopeHold.objects.get().effect_id == Effect.objects.get(run=run, kind="forward", step__name="a").id
    drain_once(slots=4)
    assert again(run).state == "compensated_with_residue"
    assert not ScopeHold.objects.exists()


def test_a_fallback_that_is_written_off_lets_the_scope_go(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    falls_back(world, tool)
    world.script("t.other", "execute", "refused")
    run = run_through(workflow("t.a", "t.b"))
    stuck = Effect.objects.get(run=run, state="stuck")
    assert (stuck.generation, ScopeHold.objects.count()) == (1, 1)
    people.write_off(stuck.id, by="person:tester", why="it stays")
    drain_once()
    assert not ScopeHold.objects.exists()


def opened(agent: Any, key: str) -> Run:
    body = StartBody(subject={"type": "customer", "id": key}, digest=key, open=True)
    return start_run(agent, key, body)[0]


def test_a_bufferable_act_is_held_until_its_run_is_sealed_and_everything_before_it_is_settled(
    world: World, tool: Make, agent: Any
) -> None:
    tool("t.a")
    tool("t.mail", effect_class="bufferable", undo=False)
    run = opened(agent, "buffered")
    add_step(agent, run.id, StepBody(name="mail", tool="t.mail", arguments={"of": "mail"}, digest="1", after=[]))
    drain_once()
    assert (states(run), world.sends) == ({"mail forward": "blocked nothing"}, [])
    assert run_in_full(again(run))["blocked_by"][0]["reason"] == "gate"
    add_step(agent, run.id, StepBody(name="a", tool="t.a", arguments={"of": "a"}, digest="2", after=[]))
    drain_once()
    assert [name for name, _, _ in world.sends] == ["t.a"]
    seal(agent, run.id)
    drain_once()
    assert [name for name, _, _ in world.sends] == ["t.a", "t.mail"]
    assert again(run).state == "completed"


def test_a_bufferable_act_is_dropped_at_no_cost_when_its_run_is_called_off(
    world: World, tool: Make, agent: Any
) -> None:
    tool("t.mail", effect_class="bufferable", undo=False)
    run = opened(agent, "dropped")
    add_step(agent, run.id, StepBody(name="mail", tool="t.mail", arguments={"of": "mail"}, digest="1"))
    drain_once()
    cancel(agent, run.id, reason="the customer left")
    drain_once()
    assert (states(run), world.sends) == ({"mail forward": "cancelled nothing"}, [])
    assert (again(run).state, again(run).residue) == ("cancelled", [])
