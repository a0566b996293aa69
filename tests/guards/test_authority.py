"""Each guard of agents and teams in a pair: with it the promise holds, patched away the same scenario breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from repairs import scope
from repairs.models import Case, Person
from tests.api.conftest import Caller
from tests.authority.asking import activate
from tests.engine.simulated import World
from workflows.authority import grants, keys
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.models import Agent, AgentKey, Effect, Team
from workflows.policies import next as decided

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])


@on_and_off
def test_what_was_never_granted_is_sent_although_every_rule_allows_it(
    guard: str, monkeypatch: pytest.MonkeyPatch, world: World, agent: Agent, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    activate("{name: all, when: 'true', then: allow}", expect="allow")
    begin(workflow("t.a"))
    advance()
    Agent.objects.update(narrowed={"*": ["read", "verify"]})
    if guard == "off":
        monkeypatch.setattr(grants, "refused_now", lambda _effect, natural: None)
    drain_once()
    assert bool(world.sends) is (guard == "off")


@on_and_off
def test_a_key_opens_after_it_was_revoked(guard: str, monkeypatch: pytest.MonkeyPatch, agent: Agent) -> None:
    text = keys.make_key(agent)
    keys.revoke_key(AgentKey.objects.get(), by="command", why="it leaked")
    if guard == "off":
        monkeypatch.setattr(keys, "_still_good", lambda _key: None)
        assert keys.check_key(text) == agent
        return
    with pytest.raises(keys.Unauthenticated):
        keys.check_key(text)


@on_and_off
def test_a_key_for_one_party_finds_what_was_done_for_another(
    guard: str, monkeypatch: pytest.MonkeyPatch, caller: Caller
) -> None:
    theirs = caller.start()["id"]
    caller.key = keys.new_key(caller.agent, by="command", for_whom="person:night-desk")
    if guard == "off":
        monkeypatch.setattr(Agent, "owned", property(lambda agent: {"agent": agent}))
    assert caller.get(f"runs/{theirs}").status_code == (200 if guard == "off" else 404)


@on_and_off
def test_another_team_s_case_is_shown(
    guard: str, monkeypatch: pytest.MonkeyPatch, stuck: Make, person: Make, browse: Make
) -> None:
    case: Case = stuck()
    user = person("night-desk", "repairer")
    Person.objects.create(user=user).teams.add(Team.objects.create(name="another"))
    if guard == "off":
        monkeypatch.setattr("repairs.views.case.visible", lambda _desk, model: model.objects.all())
    answer = browse(user).get(reverse("case", args=[case.number]))
    assert answer.status_code == (200 if guard == "off" else 404)


@on_and_off
def test_an_undoing_waits_for_a_right_that_was_taken_after_the_act(
    guard: str, monkeypatch: pytest.MonkeyPatch, world: World, agent: Agent, tool: Make, workflow: Make, begin: Make
) -> None:
    """Judged by the present grant instead, what stands would stay."""
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    if guard == "off":
        present = grants.refused
        monkeypatch.setattr(
            grants,
            "refused_now",
            lambda effect, natural: present(effect.agent, effect.tool.name, effect.tool.profile),
        )
    run = begin(workflow("t.a", "t.b"))
    taken = decided.apply

    def apply(effect: Any, step: Any) -> None:
        taken(effect, step)
        if effect.forward and step.move == "fail":
            Agent.objects.filter(id=agent.id).update(tools=[])

    monkeypatch.setattr(decided, "apply", apply)
    drain_once()
    undoing = Effect.objects.get(run=run, kind="compensation")
    assert undoing.state == ("stuck" if guard == "off" else "verified")


@on_and_off
def test_hidden_text_reaches_a_page_as_it_is(
    guard: str, monkeypatch: pytest.MonkeyPatch, agent: Agent, person: Make, browse: Make
) -> None:
    Agent.objects.update(purpose="pays \u202e001\u202c EUR")
    if guard == "off":
        monkeypatch.setattr("workflows.visible.is_hidden", lambda _char, block=False: False)
    page = browse(person("day-desk", "manager")).get(reverse("agent", args=[agent.id])).content.decode()
    assert ("\u202e" in page) is (guard == "off")


def test_the_table_of_ways_to_teams_names_no_model_twice() -> None:
    assert not set(scope.AGENT_OF) & scope.SHARED
