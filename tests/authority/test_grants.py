"""Rights apart: reading, writing, undoing and looking are each refused alone, and judged on what is granted now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.api.conftest import Caller, read
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.authority import grants
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.models import Agent, Decision, Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def grant(agent: Agent, **rights: list[str]) -> None:
    """`grant(agent, t_a=["read"])` narrows the tool t.a of an agent that has all tools."""
    narrowed = {name.replace("_", "."): some for name, some in rights.items()}
    Agent.objects.filter(id=agent.id).update(narrowed=narrowed)
    agent.narrowed = narrowed  # the one that `begin` starts runs with


@pytest.mark.parametrize(
    ("effect_class", "rights", "sent"),
    [
        ("reversible", ["write", "verify"], True),
        ("reversible", ["read", "compensate", "verify"], False),
        ("read_only", ["read"], True),
        ("read_only", ["write", "compensate", "verify"], False),
    ],
)
def test_an_act_is_sent_only_with_the_right_to_read_or_to_write(
    world: World,
    agent: Agent,
    tool: Make,
    workflow: Make,
    run_through: Make,
    effect_class: str,
    rights: list[str],
    sent: bool,
) -> None:
    tool("t.a", effect_class=effect_class, undo=effect_class == "reversible")
    grant(agent, t_a=rights)
    run = run_through(workflow("t.a"))
    assert bool(world.sends) is sent
    decision = Decision.objects.latest("id")
    assert (decision.verdict, decision.rule == grants.RULE) == (("allow", False) if sent else ("deny", True))
    assert again(run).state == ("completed" if sent else "failed")


def test_a_grant_that_was_taken_stops_what_was_asked_and_not_yet_sent(
    world: World, agent: Agent, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    grant(agent, t_a=["read", "compensate", "verify"])
    drain_once()
    assert world.sends == []
    assert Effect.objects.get(run=run).reason == "policy"


def test_what_was_sent_is_undone_by_the_right_it_was_sent_with_though_all_is_taken_since(
    world: World, agent: Agent, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")

    def take(_call: Any) -> None:
        if world.sends[-1][0] == "t.b":
            Agent.objects.filter(id=agent.id).update(tools=[], active=False)
            connection.close()  # this thread's own

    world.inside = take
    run = begin(workflow("t.a", "t.b"))
    drain_once()
    assert not Agent.objects.get().active
    assert states(run) == {
        "a forward": "undone gone",
        "b forward": "failed nothing",
        "a compensation": "verified present",
    }


def test_without_the_right_to_undo_what_stands_goes_to_a_person_and_nothing_is_sent(
    world: World, agent: Agent, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    grant(agent, t_a=["write", "verify"])
    run = run_through(workflow("t.a", "t.b"))
    assert again(run).state == "stuck"
    undoing = Effect.objects.get(run=run, kind="compensation")
    assert (undoing.state, undoing.reason) == ("stuck", "policy")
    assert "no right to undo" in undoing.detail
    assert [operation for _, operation, _ in world.sends] == ["execute", "execute"]


def test_without_the_right_to_look_nothing_is_looked_at_and_nothing_is_called_verified(
    world: World, agent: Agent, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    world.script("t.a", "look", "several")  # would be met by the first look
    grant(agent, t_a=["write", "compensate"])
    run = run_through(workflow("t.a"))
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.verifiable, effect.looks.count()) == ("acknowledged", False, 0)
    assert again(run).is_clean is False


def test_a_tool_that_asks_the_world_first_needs_the_right_to_look(
    world: World, agent: Agent, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", by="natural_key")
    grant(agent, t_a=["write", "compensate"])
    run = run_through(workflow("t.a"))
    assert world.sends == []
    assert "no right to verify" in Effect.objects.get(run=run).detail


def test_an_agent_is_offered_only_tools_whose_act_it_has_the_right_to(caller: Caller, tool: Make) -> None:
    tool("t.reads", effect_class="read_only")
    tool("t.writes")

    def offered() -> list[str]:
        return [one["name"] for one in read(caller.get("tools"))["results"]]

    assert offered() == ["sim.act", "t.reads", "t.writes"]
    for narrowed, names in (
        ({"t.writes": ["read", "verify"]}, ["sim.act", "t.reads"]),
        ({"*": ["read", "verify"]}, ["t.reads"]),
        ({"*": ["verify"], "t.writes": ["write"]}, ["t.writes"]),
    ):
        Agent.objects.update(narrowed=narrowed)
        assert offered() == names


def test_old_rows_keep_every_right() -> None:
    assert Effect().granted.split() == ["read", "write", "compensate", "verify"]
    assert Agent(tools=["*"]).rights("any") == ("read", "write", "compensate", "verify")
