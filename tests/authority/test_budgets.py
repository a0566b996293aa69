"""C58: one durable budget, reserved before each send and settled with its answer, shared by all who fall under it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.authority.asking import activated
from tests.authority.purse import beside_each_other, drained_by, give, of_run, priced, taken
from tests.authority.test_policy import document, rule
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import rows
from workflows.authority import raising
from workflows.drain import Drain, drain_once
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.dispatch import dispatch
from workflows.engine.reconcile import reconcile
from workflows.engine.recover import recover
from workflows.models import Attempt, Budget, Decision, Effect, ScopeHold, ToolCost

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
DECLARED = {"calls": 10}


def settled() -> None:
    """What looks and people moved is counted by the sweep, which drains do every second."""
    drain_once()
    reconcile()


def test_c58_of_fifty_calls_at_once_by_two_workers_a_limit_of_ten_lets_exactly_ten_go(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    budget = give("agent:sim", calls=10)
    runs = [begin(beside_each_other(workflow(*["t.a"] * 10))) for _ in range(5)]
    drained_by(2, slots=8)
    settled()
    assert len(world.sends) == 10
    assert taken(budget) == ({"calls": 10, "effects": 10}, {})
    blocked = list(Effect.objects.filter(run__in=runs, state="blocked", reason="budget"))
    assert len(blocked) == 40, "nothing is dropped"
    by = blocked[0].blocked_by[0]
    told = {name: by[name] for name in ("budget", "of", "unit", "limit", "used", "needed", "waits")}
    assert told == {
        "budget": str(budget.id), "of": "agent sim", "unit": "calls", "limit": 10, "used": 10, "needed": 1,
        "waits": "person",
    }  # fmt: skip
    assert blocked[0].detail == "agent sim may take 10 calls: 10 calls used, 1 call needed"


def test_ten_payments_below_a_limit_are_stopped_by_their_sum(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """D11: each of 4,999 is below 5,000."""
    priced(tool("t.pay"))
    flow = beside_each_other(workflow(*["t.pay"] * 10), amount=4999)
    run = begin(flow, budget={"money": {"EUR": 5000}})
    settled()
    assert len(world.sends) == 1
    assert taken(of_run(run))[0]["EUR"] == 4999


def test_children_share_the_budget_of_the_run_they_were_begun_under(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Each child asks for a large one of its own, and a grandchild for nothing but its share."""
    tool("t.a")
    flow = workflow("t.a")
    parent = begin(workflow(), budget={"effects": 3})
    for _ in range(4):
        child = begin(flow, budget={"of": str(parent.id), "effects": 100})
    grandchild = begin(flow, budget={"of": str(child.id)})
    settled()
    assert len(world.sends) == 3
    assert taken(of_run(parent)) == ({"calls": 3, "effects": 3}, {})
    blocked = Effect.objects.get(run=grandchild)
    assert [by["of"] for by in blocked.blocked_by] == [f"run {parent.id}"]


@pytest.mark.parametrize("worst", [None, {"EUR": 600}])
def test_a_cost_that_is_not_known_takes_the_worst_case(
    worst: dict[str, int] | None, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Without one it takes all that there is, and only an untouched budget has all."""
    priced(tool("t.pay"))
    if worst:
        ToolCost.objects.create(tool="t.pay", worst=worst)
    run = begin(beside_each_other(workflow("t.pay", "t.pay")), budget={"money": {"EUR": 1000}})
    settled()
    assert len(world.sends) == 1
    assert taken(of_run(run))[0]["EUR"] == (600 if worst else 1000)


def test_undoing_runs_at_a_budget_of_nothing_and_is_counted_beside_it(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run = begin(workflow("t.a", "t.b"), budget={"calls": 2, "effects": 2, "money": {"EUR": 0}})
    world.script("t.a", "compensate", "temporary", "temporary")
    settled()
    assert again(run).state == "compensated"
    budget = of_run(run)
    assert taken(budget) == ({"calls": 2, "effects": 1}, {})
    assert budget.aside == {"calls": 3, "effects": 1}, "three tries of one undoing"


def test_undoing_runs_after_every_limit_was_lowered_to_nothing(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    budgets = [give(owner, calls=1) for owner in ("agent:sim", "tool:t.a", "all:")]
    flow = workflow("t.a", "t.a")
    flow.spec["steps"][1].update(name="b", after=["a"])
    flow.save()
    run = begin(flow, budget={"calls": 1})
    settled()
    assert states(again(run)) == {"a forward": "verified present", "b forward": "blocked nothing"}
    for budget in (*budgets, of_run(run)):
        raising.change(budget.owner, "ever", {"calls": 0, "effects": 0}, by="person:night", why="it ran away")
    cancel(run.agent, run.id, reason="it ran away")
    settled()
    assert (again(run).state, world.things) == ("compensated", {})


def test_every_try_counts_and_what_was_not_sent_does_not(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    world.script("t.a", "execute", "not_sent", "temporary", "well")
    run = begin(workflow("t.a"), budget={"calls": 2, "effects": 1})
    settled()
    assert again(run).state == "completed"
    assert taken(of_run(run)) == ({"calls": 2, "effects": 1}, {})


def test_a_retry_beyond_the_budget_waits_like_any_other_send(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", scopes=["thing:1"])
    world.script("t.a", "execute", "temporary", "well")
    run = begin(workflow("t.a"), budget={"calls": 1})
    settled()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, len(world.sends)) == ("blocked", "budget", 1)
    assert not ScopeHold.objects.exists(), "who waits for money keeps nobody else waiting"


def test_looks_count_with_their_send_where_a_person_says_that_they_cost(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """They are counted before the send and never held back: nobody may be kept from knowing what is there."""
    for name in ("t.a", "t.b"):
        tool(name)
        ToolCost.objects.create(tool=name, looks=2)
    world.script("t.a", "execute", "not_sent", "well")
    run = begin(workflow("t.a", "t.b"), budget={"calls": 5})
    settled()
    assert taken(of_run(run)) == ({"calls": 3, "effects": 1}, {})
    assert len(world.made) == 1


def test_what_is_proved_to_have_done_nothing_is_given_back_and_who_waited_for_it_goes(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    budget = give("tool:t.a", effects=1)
    world.script("t.a", "execute", "lost_before")
    world.script("t.a", "look", "unreachable")
    first, second = begin(workflow("t.a")), begin(workflow("t.a"))
    advance()
    drain = Drain(4)
    while not Effect.objects.filter(run=second, reason="budget").exists():
        drain.turn()
        drain.wait(0.01)
    assert Effect.objects.get(run=second).blocked_by[0]["waits"] == "settling", "the first may yet have done nothing"
    assert not again(second).needs_person
    cancel(first.agent, first.id, reason="no longer wanted")
    for _ in range(400):
        drain.turn()
        drain.wait(0.01)
        reconcile()
        if again(second).phase == "over":
            break
    drain.close()
    assert [again(run).state for run in (first, second)] == ["cancelled", "completed"]
    assert taken(budget)[0]["effects"] == 1


def test_a_worker_that_dies_loses_and_doubles_nothing(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    priced(tool("t.pay"))
    flow = beside_each_other(workflow(*["t.pay"] * 3), amount=10)
    run = begin(flow, budget={"money": {"EUR": 20}, "calls": 5})
    advance()
    assert len(dispatch(8)) == 2, "and here its worker dies"
    assert taken(of_run(run)) == ({}, {"EUR": 20, "effects": 2, "calls": 2})
    Effect.objects.filter(state="dispatched").update(lease_until=rows.now() - dt.timedelta(hours=1))
    recover()
    reconcile()
    reconcile()
    held = {"EUR": 20, "effects": 2}
    assert taken(of_run(run)) == ({"calls": 2}, held), "they may have been made; money is held until it is known"
    settled()
    assert len(world.made) == 2, "they were looked for, not there, and sent with the same key"
    assert taken(of_run(run)) == ({"calls": 4, "EUR": 20, "effects": 2}, {})
    assert Attempt.objects.filter(effect__run=run).count() == 4


def test_a_run_that_only_a_raised_budget_lets_go_on_opens_a_case_and_its_deadline_ends_it(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    tool("t.b")
    run = begin(workflow("t.a", "t.b"), budget={"calls": 1})
    settled()
    stuck = again(run)
    assert (stuck.state, [r["code"] for r in stuck.people_reasons]) == ("stuck", ["budget"])
    assert "may take 1 call" in stuck.people_reasons[0]["detail"]
    case = stuck.cases.get()
    assert "too little is left of its budget" in case.sentence
    stuck.deadline = stuck.advance_at = rows.now()
    stuck.save()
    settled()
    assert again(run).state == "compensated"
    assert states(again(run))["b forward"] == "cancelled nothing"
    assert again(run).cases.get().state == "resolved"


def test_what_succeeds_too_often_trips_on_its_rate_and_goes_on_in_the_next_window(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    budget = give("agent:sim", per="day", calls=2)
    begin(beside_each_other(workflow(*["t.a"] * 3)))
    settled()
    waiting = Effect.objects.get(state="blocked")
    assert waiting.blocked_by[0]["waits"] == "window"
    day = Budget.objects.get(id=budget.id).window
    assert day is not None
    assert waiting.due_at == day + dt.timedelta(days=1)
    assert not again(waiting.run).needs_person, "it goes on by itself"
    # As if the day were over: what was counted belongs to an earlier one.
    Budget.objects.filter(id=budget.id).update(window=day - dt.timedelta(days=1))
    Effect.objects.filter(id=waiting.id).update(due_at=rows.now())
    settled()
    assert again(waiting.run).state == "completed"


def test_those_who_wait_for_a_window_come_back_one_window_after_the_other(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """All of them would else come back each day, to find that two may go."""
    tool("t.a")
    budget = give("agent:sim", per="day", calls=2)
    begin(beside_each_other(workflow(*["t.a"] * 7)))
    settled()
    window = Budget.objects.get(id=budget.id).window
    assert window is not None
    waiting = Effect.objects.filter(reason="budget").order_by("epoch", "ordinal")
    assert [(effect.due_at - window).days for effect in waiting if effect.due_at] == [1, 1, 2, 2, 3]


def test_customers_are_counted_once_each_and_only_where_something_of_theirs_was_touched(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    tool("t.read", effect_class="read_only", access="read_only")
    budget = give("agent:sim", customers=2)
    world.script("t.a", "execute", "refused")
    nothing = begin(workflow("t.a"))
    settled()
    assert again(nothing).state == "failed"
    assert taken(budget)[0].get("customers", 0) == 0
    runs = [begin(beside_each_other(workflow("t.a", "t.a", "t.read"))) for _ in range(3)]
    settled()
    assert [again(run).state for run in runs] == ["completed", "completed", "stuck"]
    assert taken(budget)[0]["customers"] == 2
    assert states(again(runs[2]))["s2 forward"].startswith("acknowledged"), "who only reads touches nobody"


def test_a_call_reserves_its_timeout_and_takes_what_it_took(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"), budget={"seconds": 5})
    advance()
    assert len(dispatch(1)) == 1
    assert Budget.objects.get().reserved["milliseconds"] == 5000
    Effect.objects.update(lease_until=rows.now() - dt.timedelta(hours=1))
    recover()
    settled()
    blocked = Effect.objects.get(run=run)
    by = blocked.blocked_by[0]
    assert (by["unit"], by["limit"], by["used"], by["needed"]) == ("seconds", 5, 5, 5)


def test_policy_may_ask_how_much_is_left(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    """Of the windows and runs above each unit is told where least is left."""
    tool("t.a")
    give("agent:sim", calls=100)
    give("agent:sim", per="day", calls=2)
    low = rule("has(budgets.agent) && budgets.agent.calls.left < 2", "{deny: nearly nothing is left}")
    expect = "expect: [{verdict: allow}, {verdict: deny, facts: {budgets: {agent: {calls: {left: 1}}}}}]"
    activated(document(low, rule("true", name="rest"), expect=expect))
    for _ in range(2):
        begin(workflow("t.a"))
        settled()
    verdicts = list(Decision.objects.order_by("id").values_list("verdict", flat=True))
    assert verdicts == ["allow", "deny"]
    inputs = Decision.objects.latest("id").inputs["budgets"]["agent"]["calls"]
    assert inputs == {"limit": 2, "used": 1, "reserved": 0, "left": 1}


def test_without_budgets_nothing_is_asked_of_them(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    begin(workflow("t.a"))
    with CaptureQueriesContext(connection) as queries:
        drain_once()
    texts = [query["sql"] for query in queries.captured_queries]
    asked = [text for text in texts if "workflows_budget" in text or "workflows_reservation" in text]
    by_the_way = ("workflows_policy", "blocked_by", "r.open")  # with the policy, by who lets go, by the sweep
    assert not [text for text in asked if not any(word in text for word in by_the_way)]
