"""Nobody approves what they may have asked for themselves, by any way round: keys, findings, long logins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import agent as acts
from repairs.desk import Desk
from repairs.roles import roles_of
from tests.authority.asking import approve, rewritten
from tests.engine.simulated import World
from workflows.authority import approvals, keys
from workflows.drain import drain_once
from workflows.engine import findings
from workflows.errors import Denied
from workflows.models import Agent, AgentKey, Approval, Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


@pytest.fixture
def both(person: Make, settings: Any) -> User:
    """Who runs the installation and approves, as in a small house."""
    settings.FOUR_EYES = "required"
    made: User = person("night-desk", "operator", "approver")
    return made


@pytest.fixture
def desk(both: User) -> Desk:
    return Desk(user=both, roles=roles_of(both), must_change=False)


def key_of(agent: Agent, text: str) -> AgentKey:
    return AgentKey.objects.get(prefix=keys.prefix_of(text), agent=agent)


@pytest.mark.parametrize("how", ["made", "rotated"])
def test_who_made_a_key_for_nobody_does_not_approve_what_may_have_been_asked_with_it(
    world: World, asking: Asking, agent: Agent, desk: Desk, person: Make, how: str
) -> None:
    text = acts.new_key(desk, agent, why="a test of mine", life="never", on_behalf_of="") if how == "made" else None
    if how == "rotated":
        old = key_of(agent, keys.new_key(agent, by="command"))
        acts.rotate_key(desk, old, why="it is old", overlap="1h", life="never")
    _, approval = asking()
    with pytest.raises(Denied, match="another person must approve it"):
        approve(approval, desk.user)
    if text:
        acts.revoke_key(desk, key_of(agent, text), why="too late: it may have asked by then")
        with pytest.raises(Denied, match="another person must approve it"):
            approve(approval, desk.user)
    assert approve(approval, person("day-desk", "approver")).approval.state == "granted"


def test_who_made_a_key_approves_what_was_asked_after_its_end_and_the_work_of_other_agents(
    world: World, asking: Asking, agent: Agent, desk: Desk
) -> None:
    text = acts.new_key(desk, agent, why="for a deployment", life="30d", on_behalf_of="")
    acts.revoke_key(desk, key_of(agent, text), why="handed over")
    acts.new_key(desk, Agent.objects.create(name="another"), why="another desk's", life="never", on_behalf_of="")
    keys.new_key(agent, by="command")
    _, approval = asking()
    assert approve(approval, desk.user).approval.state == "granted"


def test_who_typed_in_what_a_later_step_reads_does_not_approve_that_step(
    world: World, tool: Make, workflow: Make, run_through: Make, person: Make, settings: Any
) -> None:
    settings.FOUR_EYES = "required"
    person("night-desk", "repairer", "approver")
    tool("t.find", verify=False, keyed=False)
    tool("t.pay", autonomy="ask")
    world.script("t.find", "execute", "lost_after")
    run = run_through(workflow("t.find", "t.pay"))
    stuck = Effect.objects.get(run=run, state="stuck")
    findings.found(stuck.id, by="person:night-desk", why="I saw it", result={"id": "an account of mine"})
    drain_once()
    approval = Approval.objects.get(run=run, state="asked")
    with pytest.raises(Denied, match="another person must approve it"):
        approve(approval, User.objects.get(username="night-desk"))
    assert approve(approval, person("day-desk", "approver")).approval.state == "granted"


def test_a_login_longer_than_the_journal_names_it_stays_the_same_person(
    world: World, asking: Asking, person: Make, settings: Any
) -> None:
    settings.FOUR_EYES = "required"
    long = person("d" * 120, "approver")
    _, approval = asking()
    entry = Entry.objects.filter(subject_id=approval.effect_id).earliest("seq")
    assert entry.event == "create"
    rewritten("workflows_entry", "actor", f"person:{long.username}"[:100], entry.id)
    with pytest.raises(Denied, match="another person must approve it"):
        approve(approval, long)


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_who_judges_or_says_who_may_stops_what_they_asked_for_themselves(
    asking: Asking, agent: Agent, person: Make, role: str
) -> None:
    """Whoever is behind it may say no whatever their role; but the word of those two never counts."""
    Agent.objects.filter(id=agent.id).update(on_behalf_of="person:judge")
    _, approval = asking()
    judge = person("judge", role)
    with pytest.raises(Denied, match="not among them"):
        approvals.refuse(approval.id, by=judge, why="no", seen_digest=approval.digest)
    judge.groups.clear()
    assert approvals.refuse(approval.id, by=judge, why="no", seen_digest=approval.digest).approval.state == "refused"
