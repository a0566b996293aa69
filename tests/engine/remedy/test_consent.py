"""What stands before a remedy: policy, stops, budgets and a second person; and calling it off before it left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from tests.authority.purse import give
from tests.engine.conftest import again, states
from tests.engine.remedy.asking import BY, ask, codes, of
from tests.engine.simulated import World
from workflows.authority import approvals, stops
from workflows.drain import drain_once
from workflows.engine.remedy import call_off
from workflows.errors import Denied, Invalid
from workflows.models import Agent, Approval, Effect, Run, Step
from workflows.models.stop import Target

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_remedy_that_cannot_be_undone_asks_another_person_even_where_policy_allows(
    world: World, over: Run, tool: Make
) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    made = ask(over, "t.pay")
    drain_once(slots=8)
    made = Effect.objects.get(id=made.id)
    assert (made.state, made.reason, world.made.count(made.key)) == ("blocked", "approval", 0)
    assert codes(over) == ["remedy"]
    approval = Approval.objects.get(effect=made)
    approver = Group.objects.get_or_create(name="approver")[0]
    asker, other = (User.objects.create(username=name) for name in ("night-desk", "day-desk"))
    asker.groups.add(approver)
    other.groups.add(approver)
    assert "asked for it" in approvals.why_not(approval, made, asker)
    assert approvals.why_not(approval, made, other) == ""
    call_off(made.id, by=BY, why="settled by phone")
    drain_once(slots=8)
    run = again(over)
    assert (run.phase, run.state, run.is_clean) == ("over", "completed", True), "nothing of it ever left"


def test_policy_and_stops_stand_before_a_remedy_and_the_agents_end_does_not(
    world: World, over: Run, tool: Make, agent: Agent
) -> None:
    tool("t.never", autonomy="forbidden")
    with pytest.raises(Denied, match="forbidden"):
        ask(over, "t.never")
    Agent.objects.filter(id=agent.id).update(active=False, tools=[])
    stops.freeze(Target.AGENT, agent.name, by="person:operator", why="it went wrong")
    ask(over)
    drain_once(slots=8)
    assert states(over)["remedy-1 remedy"] == "verified present"
    stops.freeze(Target.TOOL, "t.refund", by="person:operator", why="it refunds twice")
    ask(over, arguments={"amount": 1})
    drain_once(slots=8)
    assert states(over)["remedy-2 remedy"] == "blocked nothing"


def test_a_remedy_draws_on_the_budgets_and_says_when_only_a_higher_one_lets_it_go(over: Run, agent: Agent) -> None:
    give(f"agent:{agent.name}", effects=1)
    first = ask(over)
    drain_once(slots=8)
    assert Effect.objects.get(id=first.id).state == "verified"
    second = Effect.objects.get(id=ask(over, arguments={"amount": 1}).id)
    drain_once(slots=8)
    second = Effect.objects.get(id=second.id)
    assert (second.state, second.reason, codes(over)) == ("blocked", "budget", ["budget"])


def test_what_a_second_person_refuses_stays_with_the_case_and_nothing_fails_by_it(
    world: World, over: Run, tool: Make
) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    made = ask(over, "t.pay")
    drain_once(slots=8)
    other = User.objects.create(username="day-desk")
    other.groups.add(Group.objects.get_or_create(name="approver")[0])
    asked = Approval.objects.get(effect=made)
    approvals.refuse(asked.id, by=other, why="they were paid back already", seen_digest=asked.digest)
    drain_once(slots=8)
    made = Effect.objects.get(id=made.id)
    assert (made.state, made.world, codes(over), world.made.count(made.key)) == ("stuck", "nothing", ["policy"], 0)
    assert Step.objects.get(run=over, name="remedy-1").state == "active"
    with pytest.raises(Invalid, match="can be called off"):
        call_off(made.id, by=BY, why="never mind")


def test_what_left_or_may_have_and_what_is_no_remedy_is_not_called_off(
    world: World, over: Run, tool: Make, workflow: Make, run_through: Make
) -> None:
    blind = tool("t.blind", verify=False, undo=False)
    blind.spec["retry"] = {"attempts": 3, "first": 60.0, "max": 60.0, "within": 600.0}
    blind.save()
    world.script("t.blind", "execute", "lost_after")
    seen, maybe = ask(over), ask(over, "t.blind")
    drain_once(slots=8)
    maybe = Effect.objects.get(id=maybe.id)
    assert (maybe.state, maybe.doubt) == ("ready", True)
    tool("t.ask", autonomy="ask")
    waits = Effect.objects.get(run=run_through(workflow("t.ask")))
    assert (waits.state, waits.world) == ("blocked", "nothing")
    for effect in (seen, maybe, of(over, "charge"), waits):
        with pytest.raises(Invalid, match="can be called off"):
            call_off(effect.id, by=BY, why="never mind")
