"""Who approves: those whom the policy asks, as many as it asks, and never who stands behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.authority.asking import activate, approve
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.errors import Denied, StaleFence
from workflows.models import Agent, Approval, Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


def test_m_of_n_needs_so_many_different_people(world: World, asking: Asking, desk: User, person: Make) -> None:
    night, late = person("night-desk", "approver"), person("late-desk", "approver")
    activate("{name: two, when: 'true', then: {ask: {count: 2}}}")
    run, approval = asking()
    assert (approve(approval, desk).counted, approve(approval, night).approval.state) == (1, "granted")
    with pytest.raises(StaleFence, match="granted"):
        approve(approval, late)
    drain_once()
    assert again(run).state == "completed"


def test_one_person_counts_once(world: World, asking: Asking, desk: User, person: Make) -> None:
    person("night-desk", "approver")
    activate("{name: two, when: 'true', then: {ask: {count: 2}}}")
    run, approval = asking()
    approve(approval, desk)
    with pytest.raises(StaleFence, match="another person is needed"):
        approve(approval, desk)
    drain_once()
    assert Effect.objects.get(run=run).state == "blocked"


@pytest.mark.parametrize("superuser", [False, True])
def test_nobody_approves_what_is_done_on_their_behalf_through_agents_that_act_for_each_other(
    world: World, asking: Asking, agent: Agent, person: Make, settings: Any, superuser: bool
) -> None:
    settings.FOUR_EYES = "required"
    mine, other = person("day-desk", "approver"), person("night-desk", "approver")
    User.objects.filter(id=mine.id).update(is_superuser=superuser)
    Agent.objects.create(name="lead", on_behalf_of="person:day-desk")
    Agent.objects.filter(id=agent.id).update(on_behalf_of="system:lead")
    _, approval = asking()
    with pytest.raises(Denied, match="on their behalf; another person must approve it"):
        approve(approval, User.objects.get(id=mine.id))
    assert approve(approval, other).approval.state == "granted"


def test_nobody_approves_for_themselves_however_long_the_chain_or_their_login_is_written(
    world: World, asking: Asking, agent: Agent, person: Make, settings: Any
) -> None:
    settings.FOUR_EYES = "required"
    mine = person("day-desk", "approver")
    Agent.objects.create(name="a0", on_behalf_of="person:Day-Desk")
    for i in range(1, 13):
        Agent.objects.create(name=f"a{i}", on_behalf_of=f"system:a{i - 1}")
    Agent.objects.filter(id=agent.id).update(on_behalf_of="system:a12")
    _, approval = asking()
    with pytest.raises(Denied, match="on their behalf; another person must approve it"):
        approve(approval, mine)


def test_the_requester_may_refuse(world: World, asking: Asking, agent: Agent, person: Make, settings: Any) -> None:
    settings.FOUR_EYES = "required"
    mine = person("day-desk")
    Agent.objects.filter(id=agent.id).update(on_behalf_of="person:day-desk")
    _, approval = asking()
    assert approvals.refuse(approval.id, by=mine, why="a slip", seen_digest="").approval.state == "refused"


def test_alone_is_possible_only_where_the_installation_says_so_and_is_written_down(
    world: World, asking: Asking, agent: Agent, desk: User, settings: Any
) -> None:
    settings.FOUR_EYES = "when_possible"
    Agent.objects.filter(id=agent.id).update(on_behalf_of="person:day-desk")
    _, approval = asking()
    assert approve(approval, desk).approval.state == "granted"
    assert approval.votes.get().alone


def test_who_is_not_asked_cannot_approve(world: World, asking: Asking, person: Make) -> None:
    _, approval = asking()
    with pytest.raises(Denied, match="asks the role approver"):
        approve(approval, person("somebody", "manager"))
    gone = person("gone", "approver")
    User.objects.filter(id=gone.id).update(is_active=False)
    with pytest.raises(Denied, match="switched off"):
        approve(approval, User.objects.get(id=gone.id))
