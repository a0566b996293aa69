"""What an agent may do: nothing by default, each right apart, from the next dispatch on; and what was is kept."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction

from tests import locks
from workflows.authority import agents
from workflows.models import Agent, AgentAct, Team
from workflows.models.agent import ALL


def create(*arguments: str) -> Agent:
    out = io.StringIO()
    call_command("create_agent", *arguments, "--json", stdout=out)
    return Agent.objects.get(name=json.loads(out.getvalue())["agent"])


def change(*arguments: str) -> Any:
    out = io.StringIO()
    call_command("change_agent", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())["changed"]


def test_an_agent_may_do_nothing_until_something_is_granted(declared: None) -> None:
    assert create("bare").rights("sim.act") == ()


def test_a_name_or_a_star_grants_all_four_rights_and_a_grant_only_those_it_names(declared: None) -> None:
    assert create("one", "--tools", "sim.act").rights("sim.act") == ALL
    assert create("all", "--tools", "*").rights("applied.later") == ALL
    some = create("some", "--grant", "sim.act=verify,read")
    assert some.rights("sim.act") == ("read", "verify")
    both = create("both", "--tools", "*", "--grant", "sim.act=read")
    assert (both.rights("sim.act"), both.rights("applied.later")) == (("read",), ALL)
    mixed = create("mixed", "--tools", "sim.act", "--grant", "*=read")
    assert (mixed.rights("sim.act"), mixed.rights("applied.later")) == (ALL, ("read",))
    assert create("readers", "--grant", "*=read,verify").rights("applied.later") == ("read", "verify")


@pytest.mark.parametrize(
    "grant", ["sim.act", "sim.act=", "=read", "sim.act=reed", "sim.act=read, write", "sim.atc=read", "sim.act=read,"]
)
def test_a_grant_that_says_something_else_makes_no_agent(declared: None, grant: str) -> None:
    with pytest.raises(CommandError, match="--grant"):
        create("new", "--grant", grant)
    assert not Agent.objects.exists()


def test_a_tool_granted_twice_makes_no_agent(declared: None) -> None:
    with pytest.raises(CommandError, match="a second time"):
        create("new", "--grant", "sim.act=read", "--grant", "sim.act=write")


def test_narrowing_one_tool_widens_no_other(declared: None) -> None:
    create("sim", "--grant", "sim.act=read", "--workflows", "sim")
    assert change("sim", "--grant", "*=verify", "--why", "looks only") == ["tools", "narrowed"]
    agent = Agent.objects.get()
    assert (agent.rights("sim.act"), agent.rights("other")) == (("read",), ("verify",))
    assert change("sim", "--tools", "sim.act", "--why", "it needs no others") == ["tools", "narrowed"]
    agent = Agent.objects.get()
    assert (agent.rights("sim.act"), agent.rights("other"), agent.workflows) == (ALL, (), ["sim"])
    assert change("sim", "--tools", "--off", "--why", "it goes") == ["tools", "active"]
    assert Agent.objects.get().rights("sim.act") == ()


@pytest.mark.django_db(transaction=True)
def test_a_tool_that_was_taken_away_meanwhile_comes_back_with_another(declared: None) -> None:
    agent = create("sim", "--tools", "*")
    with transaction.atomic():
        Agent.objects.select_for_update().get(id=agent.id)
        adds = locks.begun(lambda: agents.change(agent, by="command", why="more", grants=["sim.act=read"]))
        Agent.objects.filter(id=agent.id).update(tools=[])
    adds.join(60)
    assert Agent.objects.get().tools == ["sim.act"]


def test_each_change_is_kept_with_what_was_and_why(declared: None) -> None:
    User.objects.create_user("night-desk")
    create("sim", "--tools", "sim.act")
    assert change("sim", "--tools", "sim.act", "--why", "no news") == []
    change("sim", "--team", "night", "--on-behalf-of", "person:night-desk", "--why", "moved")
    acts = [(act.what, act.why, act.facts) for act in AgentAct.objects.all()]
    assert [what for what, *_ in acts] == ["create", "change"]
    assert acts[1][1:] == (
        "moved",
        {
            "team": {"was": "operations", "is": "night"},
            "on_behalf_of": {"was": "", "is": "person:night-desk"},
        },
    )
    assert Team.objects.filter(name="night").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nobody", "--why", "x"],
        ["sim"],
        ["sim", "--tools", "sim.atc", "--why", "x"],
        ["sim", "--workflows", "smi", "--why", "x"],
        ["sim", "--on-behalf-of", "me", "--why", "x"],
        ["sim", "--on-behalf-of", "person:mistyped", "--why", "x"],  # nobody would be kept from approving it
        ["sim", "--team", " ", "--why", "x"],
        ["sim", "--on", "--off", "--why", "x"],
    ],
)
def test_a_wrong_change_changes_nothing(declared: None, arguments: list[str]) -> None:
    create("sim", "--tools", "sim.act")
    before = Agent.objects.values().get()
    with pytest.raises(CommandError):
        change(*arguments)
    assert Agent.objects.values().get() == before


def test_what_was_taken_away_meanwhile_does_not_come_back_with_another_change(declared: None) -> None:
    read_before = create("some", "--tools", "sim.act")
    change("some", "--tools", "--why", "it reads letters now")
    agents.change(read_before, by="person:night-desk", why="switched off", active=False)
    found = Agent.objects.get(name="some")
    assert (found.tools, found.active) == ([], False)
