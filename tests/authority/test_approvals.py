"""Approvals, the engine's side: what asks waits, a plain yes lets it go once, a no ends it, and time does."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.authority.asking import activate, approve, later
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import proof, rows
from workflows.authority import approvals
from workflows.authority.approvals import store
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.dispatch import dispatch
from workflows.engine.start import StartBody, start_run
from workflows.engine.steps import StepBody, add_step
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Agent, Approval, Decision, Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


def test_what_asks_waits_and_says_for_what(world: World, asking: Asking) -> None:
    run, approval = asking()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, world.sends) == ("blocked", "approval", [])
    assert effect.blocked_by == [{"approval": str(approval.id), "until": approval.expires_at.isoformat()}]
    assert effect.due_at == approval.expires_at
    decision = effect.decisions.get()
    assert (decision.verdict, decision.rule) == ("ask", "asks")


def test_nobody_is_asked_for_longer_than_the_run_may_last(world: World, asking: Asking) -> None:
    run, approval = asking()
    assert approval.expires_at == again(run).deadline, "ten minutes here; the policy would give a day"


def test_a_plain_valid_approval_lets_it_go_once(world: World, asking: Asking, desk: User) -> None:
    run, approval = asking()
    assert approve(approval, desk).approval.state == "granted"
    drain_once()
    assert states(again(run)) == {"a forward": "verified present"}
    assert len(world.sends) == 1
    approval = Approval.objects.get(run=run)
    assert (approval.state, approval.fence) == ("spent", 1)
    assert Decision.objects.filter(effect__run=run).latest("id").inputs["approval"] == str(approval.id)


def test_a_plain_valid_approval_works_for_an_undoing_and_for_what_cannot_be_undone(
    world: World, tool: Make, workflow: Make, run_through: Make, desk: User
) -> None:
    activate("{name: all, when: 'true', then: {ask: {}}}")
    tool("t.a")
    tool("t.b", effect_class="irreversible", undo=False)
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.a", "t.b"))
    for _ in range(3):
        approve(Approval.objects.get(run=run, state="asked"), desk)
        drain_once()
    assert states(again(run)) == {
        "a forward": "undone gone", "b forward": "failed nothing", "a compensation": "verified present",
    }  # fmt: skip
    assert [a.state for a in Approval.objects.filter(run=run)] == ["spent"] * 3


def test_of_two_moves_in_one_transaction_the_second_is_told_as_from_where_the_first_began(asking: Asking) -> None:
    _, asked = asking()
    with transaction.atomic():
        approval = Approval.objects.select_for_update().get(id=asked.id)
        approval.grant(at=rows.now())
        store.write([approval], now=rows.now())
        approval.void(at=rows.now(), reason="changed")
        store.write([approval], now=rows.now())
    told = Entry.objects.filter(subject_id=asked.id).order_by("seq").values_list("before", "after")
    assert list(told)[-2:] == [("asked", "granted"), ("granted", "void")]


def test_a_yes_is_taken_back_by_somebody_who_may_not_or_not_by_who_gave_it(
    asking: Asking, desk: User, person: Make
) -> None:
    _, approval = asking()
    with pytest.raises(StaleFence, match="nothing to take back"):
        approvals.revoke(approval.id, by=desk, why="too early")
    approve(approval, desk)
    with pytest.raises(Denied, match="not among them"):
        approvals.revoke(approval.id, by=person("reader", "manager"), why="I would not")
    desk.groups.clear()  # another desk by now: the word is still theirs
    assert approvals.revoke(approval.id, by=desk, why="wrong account").approval.void_reason == "revoked"


def test_a_refusal_cancels_a_forward_effect_and_its_step_fails(world: World, asking: Asking, desk: User) -> None:
    run, approval = asking()
    approvals.refuse(approval.id, by=desk, why="not today", seen_digest=approval.digest)
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, effect.detail) == (
        "cancelled", "policy", "day-desk refused it: not today",
    )  # fmt: skip
    assert (again(run).state, world.sends) == ("failed", [])


def test_a_refused_undoing_needs_a_person(
    world: World, tool: Make, workflow: Make, run_through: Make, desk: User
) -> None:
    activate(
        "{name: undoing, when: act.kind == 'compensation', then: {ask: {}}}", "{name: rest, when: 'true', then: allow}"
    )
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.a", "t.b"))
    approval = Approval.objects.get(run=run)
    approvals.refuse(approval.id, by=desk, why="leave it", seen_digest=approval.digest)
    drain_once()
    assert states(again(run))["a compensation"] == "stuck nothing"
    assert again(run).people_reasons[0]["code"] == "policy"


def test_clear_errors_for_what_is_gone_decided_unseen_or_without_a_reason(
    world: World, asking: Asking, desk: User, agent: Agent
) -> None:

    run, approval = asking()
    with pytest.raises(NotFound):
        approvals.vote(uuid.uuid4(), by=desk, why="x", seen_digest="")
    with pytest.raises(Invalid, match="Say why"):
        approve(approval, desk, why=" ")
    with pytest.raises(StaleFence, match="has changed since this page was opened"):
        approve(approval, desk, seen_digest="0" * 64)
    cancel(agent, run.id, reason="the customer left")
    drain_once()
    assert approvals.sweep() == [approval.id]
    with pytest.raises(StaleFence, match="not waiting any more"):
        approve(approval, desk)
    _, second = asking("t.b")
    approvals.refuse(second.id, by=desk, why="no", seen_digest=second.digest)
    with pytest.raises(StaleFence, match="This was refused"):
        approve(second, desk)


def test_an_approval_of_what_left_meanwhile_is_turned_down_and_nothing_moves(
    world: World, asking: Asking, desk: User, agent: Agent
) -> None:

    run, approval = asking()
    cancel(agent, run.id, reason="the customer left")
    drain_once()
    turned = approve(approval, desk)
    assert (turned.turned_down, turned.approval.state) == ("gone", "void")
    assert world.sends == []


def test_time_is_the_databases_and_what_nobody_decided_is_asked_once_more_and_then_ended(
    world: World, asking: Asking, desk: User
) -> None:
    run, first = asking()
    later(first)
    assert approve(first, desk).turned_down == "expired"
    drain_once()
    second = Approval.objects.get(run=run, state="asked")
    assert (second.round, Effect.objects.get(run=run).blocked_by[0]["approval"]) == (2, str(second.id))
    later(second)
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.detail) == ("cancelled", "nobody decided about it in time, 2 times")
    assert (again(run).state, world.sends) == ("failed", [])


def test_a_step_that_is_added_later_needs_its_own_approval_and_is_judged_by_the_gravest_of_the_chain(
    world: World, tool: Make, agent: Agent, desk: User
) -> None:

    tool("t.a", autonomy="ask")
    tool("t.b", effect_class="irreversible", undo=False, autonomy="ask")
    tool("t.c")
    body = StartBody(subject={"type": "customer", "id": "1"}, digest="1", open=True)
    run, _ = start_run(agent, "chain", body)
    add_step(agent, run.id, StepBody(name="a", tool="t.a", arguments={"of": "a"}, digest="a"))
    drain_once()
    approve(Approval.objects.get(run=run), desk)
    drain_once()
    add_step(agent, run.id, StepBody(name="b", tool="t.b", arguments={"of": "b"}, digest="b"))
    add_step(agent, run.id, StepBody(name="c", tool="t.c", arguments={"of": "c"}, digest="c", after=[]))
    drain_once()
    made = {e.step.name: e for e in Effect.objects.filter(run=run).select_related("step")}
    assert {n: e.chain_class for n, e in made.items()} == {"a": "reversible", "b": "irreversible", "c": "irreversible"}
    assert made["b"].reason == "approval", "what was given for the first step is spent, and was for nothing else"
    told = Decision.objects.get(effect=made["c"]).inputs["run"]["highest_class"]
    assert told == "irreversible"


def test_every_move_of_an_approval_is_history_that_is_proved_whole(world: World, asking: Asking, desk: User) -> None:
    _, approval = asking()
    approve(approval, desk)
    drain_once()
    told = [(e.event, e.before, e.after, e.actor) for e in Entry.objects.filter(subject_id=approval.id).order_by("seq")]
    assert [one for one in told if one[0] != "read_target"] == [
        ("ask", "", "asked", "engine"),
        ("grant", "asked", "granted", "person:day-desk"),
        ("spend", "granted", "spent", "engine"),
    ]
    flaws: list[Any] = []
    proof.verify(flaws.append)
    assert flaws == []


def test_votes_and_approvals_are_deleted_by_nobody(world: World, asking: Asking, desk: User) -> None:

    _, approval = asking()
    approve(approval, desk)
    for sql in (
        "DELETE FROM workflows_approvalvote",
        "UPDATE workflows_approvalvote SET verdict = 'refuse'",
        "DELETE FROM workflows_approval",
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)


def test_asking_takes_the_same_statements_for_1_and_for_32_effects(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:

    tool("t.a", autonomy="ask")
    flow = workflow("t.a")
    numbers = []
    for number in (1, 1, 32):
        for _ in range(number):
            begin(flow)
        advance()
        with CaptureQueriesContext(connection) as queries:
            assert dispatch(64) == []
        numbers.append(len(queries))
    assert numbers[1] == numbers[2]
    assert Approval.objects.filter(state="asked").count() == 34
    assert dt.timedelta(0) < Approval.objects.first().expires_at - Approval.objects.first().asked_at  # type: ignore[union-attr]
