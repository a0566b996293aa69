"""What random stories found once, told on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import people
from workflows.engine.cancel import cancel
from workflows.models import Effect, Entry, ScopeHold

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BY = {"by": "person:tester", "why": "told on purpose"}


def test_an_effect_written_off_under_a_stuck_undoing_keeps_its_run_until_that_is_settled_too(
    world: World, tool: Make, workflow: Make, run_through: Make, agent: Any
) -> None:
    tool("t.a", keyed=False, verify=False, scopes=["thing"])
    world.script("t.a", "execute", "lost_before")
    world.script("t.a", "compensate", "lost_before")
    run = run_through(workflow("t.a"))
    cancel(agent, run.id, reason="the customer left")
    drain_once()
    assert states(again(run)) == {"a forward": "stuck unknown", "a compensation": "stuck unknown"}
    people.write_off(Effect.objects.get(kind="forward").id, **BY)
    drain_once()
    run = again(run)
    assert (run.state, [reason["code"] for reason in run.people_reasons]) == ("stuck", ["cannot_know"])
    people.write_off(Effect.objects.get(kind="compensation").id, **BY)
    drain_once()
    assert (again(run).state, ScopeHold.objects.count()) == ("written_off", 0)


def test_looking_again_at_what_never_left_comes_to_an_end(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", by="natural_key")
    world.script("t.a", "look", "differs")
    run = run_through(workflow("t.a"))
    people.look_again(Effect.objects.get().id, **BY)
    drain_once()
    assert (states(again(run)), world.sends) == ({"a forward": "stuck nothing"}, []), "a person's look only reads"


def test_looking_again_never_sends_again_what_was_acknowledged(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    world.script("t.a", "execute", "lies")
    run = run_through(workflow("t.a"))
    people.look_again(Effect.objects.get().id, **BY)
    drain_once()
    assert states(again(run)) == {"a forward": "stuck nothing"}
    assert len(world.sends) == 1
    assert Entry.objects.filter(event="look_again").count() == 1
