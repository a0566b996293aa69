"""What changed between the yes and the call (C52, C53): it is not sent, says why, and is asked anew."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.authority.asking import activate, approve, later, rewritten
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.engine import call, record, release
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.errors import StaleFence
from workflows.models import Approval, Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


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
    advance()
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
