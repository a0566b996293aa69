"""What one approval covers: the first send, and later ones only while each before it is proved to have done nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.authority.asking import activate, approve
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import making, rows
from workflows.authority import approvals, versions
from workflows.drain import drain_once
from workflows.engine import release
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.engine.recover import recover
from workflows.models import Approval, Effect, Run, Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


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
    advance()
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
