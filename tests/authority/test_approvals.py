"""Approvals, the engine's side: what asks waits, a plain yes lets it go once, a no ends it, time and change void it."""

from __future__ import annotations

import datetime as dt
import io
import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.authority.asking import activate, approve, later, rewritten
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import making, proof, rows
from workflows.authority import approvals, versions
from workflows.drain import drain_once
from workflows.engine import call, record, release
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.dispatch import dispatch
from workflows.engine.recover import recover
from workflows.engine.start import StartBody, start_run
from workflows.engine.steps import StepBody, add_step
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Agent, Approval, Decision, Effect, Entry, Run, Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


@pytest.fixture
def desk(person: Make) -> User:
    made: User = person("day-desk", "approver")
    return made


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


def test_a_retry_of_what_was_refused_for_now_goes_under_the_same_approval(
    world: World, asking: Asking, desk: User
) -> None:
    world.script("t.a", "execute", "temporary", "not_sent", "well")
    run, approval = asking()
    approve(approval, desk)
    drain_once()
    assert again(run).state == "completed"
    assert len(world.sends) == 3
    assert Approval.objects.get(run=run).fence == 3


def test_c46_an_approval_is_spent_by_the_first_send_and_covers_no_second_while_the_first_may_have_happened(
    world: World, asking: Asking, desk: User
) -> None:
    """A provider with keys, no look: the same request with the same key would be sent again. It needs a new yes."""
    world.script("t.a", "execute", "lost_after")
    run, approval = asking(verify=False, observability="none", effect_class="irreversible", undo=False)
    approve(approval, desk)
    drain_once()
    assert [a.state for a in Approval.objects.filter(run=run).order_by("id")] == ["void", "asked"]
    assert Approval.objects.get(id=approval.id).void_reason == "unsettled"
    assert len(world.sends) == 1
    approve(Approval.objects.get(run=run, state="asked"), desk)
    drain_once()
    assert Approval.objects.filter(run=run, state="spent").count() == 1
    assert (len(world.sends), len(world.made)) == (2, 1)


@pytest.mark.parametrize("point", ["after the intent", "after the send"])
def test_c46_a_worker_that_dies_around_the_call_spends_one_approval_and_makes_one_object(
    world: World, asking: Asking, desk: User, point: str
) -> None:
    run, approval = asking()
    approve(approval, desk)
    release.release(1)
    [effect] = dispatch(1)
    assert Approval.objects.get(id=approval.id).state == "spent", "committed before the first byte leaves"
    if point == "after the send":
        world.book(making.call_for(effect, effect.run, []))
    Effect.objects.filter(id=effect.id).update(lease_until=rows.now() - dt.timedelta(hours=1))
    recover()
    drain_once()
    assert (again(run).state, len(world.made)) == ("completed", 1)
    assert [a.state for a in Approval.objects.filter(run=run)] == ["spent"]


@pytest.mark.parametrize("end", ["refused", "denied", "given up"])
def test_what_may_not_be_sent_again_after_an_unknown_send_needs_a_person(
    world: World, asking: Asking, desk: User, end: str
) -> None:
    """It can't be cancelled: nobody knows that nothing was done."""
    world.script("t.a", "execute", "lost_after")
    run, approval = asking(verify=False, observability="none", effect_class="irreversible", undo=False)
    approve(approval, desk)
    drain_once()
    asked = Approval.objects.get(run=run, state="asked")
    if end == "refused":
        approvals.refuse(asked.id, by=desk, why="once was enough", seen_digest=asked.digest)
    elif end == "denied":
        activate("{name: stop, when: 'true', then: {deny: closed}}", expect="deny")
    else:
        versions.withdraw(Tool.objects.get(name="t.a"), by="person:owner", why="it books twice")
        drain_once()
        versions.give_up(Effect.objects.get(run=run).id, by="person:owner", why="once was enough")
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.world, len(world.sends)) == ("stuck", "unknown", 1)
    assert "what an earlier send did is not known" in effect.detail
    assert again(run).state == "stuck"


@pytest.mark.parametrize("answer", ["lost_after", "lost_before"])
def test_c46_after_a_look_one_approval_was_spent_however_the_answer_was_lost(
    world: World, asking: Asking, desk: User, answer: str
) -> None:
    world.script("t.a", "execute", answer)
    run, approval = asking()
    approve(approval, desk)
    drain_once()
    assert again(run).state == "completed"
    assert [a.state for a in Approval.objects.filter(run=run)] == ["spent"]
    assert len(world.made) == 1


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("arguments", '{"of": "somebody else"}', "arguments_changed"),
        ("arguments", '{"of": "a", "cc": "x"}', "arguments_changed"),
        ("key", "'another key of its own xx'", "other_effect"),
    ],
)
def test_c52_what_was_rewritten_behind_the_approval_is_not_sent(
    world: World, asking: Asking, desk: User, column: str, value: str, reason: str
) -> None:
    run, approval = asking()
    approve(approval, desk)
    rewritten("workflows_effect", column, value.strip("'"), Effect.objects.get(run=run).id)
    drain_once()
    approval = Approval.objects.get(id=approval.id)
    assert (approval.state, approval.void_reason, world.sends) == ("void", reason, [])
    assert Approval.objects.filter(run=run, state="asked").count() == 1, "it is asked anew, with what would be sent"


def test_c52_an_approval_is_not_for_another_tool(world: World, asking: Asking, tool: Make, desk: User) -> None:
    run, approval = asking()
    other = tool("t.other", autonomy="ask")
    approve(approval, desk)
    rewritten("workflows_effect", "tool_id", str(other.id), Effect.objects.get(run=run).id)
    drain_once()
    assert Approval.objects.get(id=approval.id).void_reason == "tool_changed"
    assert world.sends == []


def test_c53_a_rule_that_denies_since_is_obeyed_although_it_was_approved(
    world: World, asking: Asking, desk: User
) -> None:
    run, approval = asking()
    approve(approval, desk)
    activate("{name: stop, when: 'true', then: {deny: closed}}", expect="deny")
    drain_once()
    assert (Effect.objects.get(run=run).state, Effect.objects.get(run=run).detail) == ("cancelled", "closed")
    assert approvals.sweep() == [approval.id]
    assert world.sends == []


@pytest.mark.parametrize("when", ["before the click", "after the click"])
def test_c53_another_version_of_the_policy_is_asked_anew(world: World, asking: Asking, desk: User, when: str) -> None:
    run, approval = asking()
    if when == "after the click":
        approve(approval, desk)
    activate("{name: asks, when: 'true', then: {ask: {}}}")
    if when == "before the click":
        assert approve(approval, desk).turned_down == "policy_changed"
    drain_once()
    approval = Approval.objects.get(id=approval.id)
    assert (approval.state, approval.void_reason) == ("void", "policy_changed")
    asked = Approval.objects.get(run=run, state="asked")
    assert (asked.policy, world.sends) == ("asking v1", [])
    approve(asked, desk)
    drain_once()
    assert again(run).state == "completed"


@pytest.mark.parametrize("loss", ["role", "login"])
def test_c53_an_approver_who_lost_the_right_has_approved_nothing(
    world: World, asking: Asking, desk: User, person: Make, loss: str
) -> None:
    run, approval = asking()
    approve(approval, desk)
    if loss == "role":
        desk.groups.clear()
    else:
        User.objects.filter(id=desk.id).update(is_active=False)
    drain_once()
    assert Approval.objects.get(id=approval.id).void_reason == "approver_lost_rights"
    assert (Approval.objects.filter(run=run, state="asked").count(), world.sends) == (1, [])
    approve(Approval.objects.get(run=run, state="asked"), person("night-desk", "approver"))
    drain_once()
    assert again(run).state == "completed"


def test_c53_a_day_in_the_queue_and_a_retry_after_days_need_a_new_approval(
    world: World, asking: Asking, desk: User
) -> None:
    world.script("t.a", "execute", "temporary")
    run, approval = asking()
    approve(approval, desk)
    later(approval)
    drain_once()
    assert [(a.state, a.void_reason) for a in Approval.objects.filter(run=run).order_by("id")] == [
        ("expired", "too_late"), ("asked", ""),
    ]  # fmt: skip
    assert world.sends == []
    second = Approval.objects.get(run=run, state="asked")
    approve(second, desk)
    advance()

    effects = dispatch(1)

    with ThreadPoolExecutor(1) as pool:
        jobs = call.begin(effects, pool, effects[0].sending.started_at)
        record.record([(effect, future.result()) for effect, future in jobs])
    later(second)  # it was refused for now, and is tried again days later
    drain_once()
    assert Approval.objects.get(id=second.id).state == "expired"
    assert (len(world.sends), Approval.objects.filter(run=run, state="asked").count()) == (1, 1)


def test_c53_what_is_taken_back_before_the_call_begins_is_not_sent_although_it_was_dispatched(
    world: World, asking: Asking, desk: User
) -> None:

    run, approval = asking()
    approve(approval, desk)
    release.release(1)
    effects = dispatch(1)
    assert approvals.revoke(approval.id, by=desk, why="wrong account").approval.void_reason == "revoked"
    with ThreadPoolExecutor(1) as pool:
        jobs = call.begin(effects, pool, effects[0].sending.started_at)
        record.record([(effect, future.result()) for effect, future in jobs])
    assert world.sends == []
    drain_once()
    assert Effect.objects.get(run=run).reason == "approval"
    with pytest.raises(StaleFence, match="nothing to take back"):
        approvals.revoke(approval.id, by=desk, why="again")


@pytest.mark.parametrize("when", ["before the click", "after the click"])
def test_c53_a_tool_that_is_withdrawn_is_not_called_for_what_waited_until_somebody_decides(
    world: World, asking: Asking, desk: User, when: str
) -> None:
    run, approval = asking()
    if when == "after the click":
        approve(approval, desk)
    tool = Tool.objects.get(name="t.a")
    versions.withdraw(tool, by="person:owner", why="it books twice")
    if when == "before the click":
        assert approve(approval, desk).turned_down == "version"
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, effect.blocked_by[0]["is"]) == ("blocked", "version", "withdrawn")
    assert world.sends == []
    versions.let_go(effect.id, by="person:owner", why="this one is harmless")
    drain_once()
    for asked in Approval.objects.filter(run=run, state="asked"):
        approve(asked, desk)
    drain_once()
    assert (again(run).state, len(world.sends)) == ("completed", 1)


def test_what_waited_for_persons_while_its_tool_was_replaced_waits_for_a_decision(
    world: World, asking: Asking, tool: Make, desk: User
) -> None:
    run, approval = asking()
    old = Tool.objects.get(name="t.a")
    Tool.objects.filter(id=old.id).update(current=False)
    Tool.objects.create(name="t.a", version=2, kind=old.kind, digest="2", spec=old.spec, owner=old.owner)
    assert approve(approval, desk).turned_down == "version"
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.reason, effect.blocked_by[0]["is"], world.sends) == ("version", "replaced", [])
    versions.give_up(effect.id, by="person:owner", why="start it again with the new one")
    drain_once()
    assert (Effect.objects.get(run=run).state, again(run).state) == ("cancelled", "failed")


def test_running_work_that_nobody_was_asked_about_goes_on_with_the_version_it_began_with(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    Tool.objects.update(current=False)
    drain_once()
    assert again(run).state == "completed"


def test_code_that_changed_since_it_was_asked_for_is_not_called(
    world: World, tool: Make, workflow: Make, begin: Make, run_through: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    effect = Effect.objects.get(run=run)
    rewritten("workflows_effect", "implementation", "0" * 32, effect.id)
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.reason, effect.blocked_by[0]["is"], world.sends) == ("version", "changed", [])
    versions.let_go(effect.id, by="person:owner", why="a comment was changed")
    drain_once()
    assert again(run).state == "completed"


def test_a_withdrawn_tool_goes_on_when_it_is_restored_and_both_are_history(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    made = tool("t.a")
    versions.withdraw(made, by="person:owner", why="it books twice")
    run = run_through(workflow("t.a"))
    assert Effect.objects.get(run=run).reason == "version"
    with pytest.raises(StaleFence, match="withdrawn already"):
        versions.withdraw(made, by="person:owner", why="again")
    versions.restore(made, by="person:owner", why="mended")
    drain_once()
    assert again(run).state == "completed"
    flaws: list[Any] = []
    proof.verify(flaws.append)
    assert flaws == []


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


def test_versions_are_withdrawn_and_their_waiting_work_decided_from_the_command_line(
    world: World,
    asking: Asking,
    person: Make,
) -> None:
    person("owner")
    run, _ = asking()

    def told(*words: str) -> Any:
        out = io.StringIO()
        call_command("tool_version", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert told("withdraw", "t.a v1", "--by", "owner", "--why", "it books twice") == {
        "tool": "t.a v1",
        "act": "withdraw",
    }
    drain_once()
    [waiting] = told("waiting")["waiting"]
    assert (waiting["run"], waiting["is"]) == (str(run.id), "withdrawn")
    assert told("give-up", waiting["effect"], "--by", "owner", "--why", "start again")["state"] == "cancelled"
    with pytest.raises(CommandError, match="must be an effect's id"):
        call_command("tool_version", "let-go", "nonsense", "--by", "owner", "--why", "x")
    with pytest.raises(CommandError, match=r"there are t\.a v1"):
        call_command("tool_version", "restore", "t.b", "--by", "owner", "--why", "x")
