"""Approvals, the engine's side: what asks waits, a plain yes lets it go once, a no ends it, time and change void it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.models import Approval, Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def asking(world: World, tool: Make, workflow: Make, run_through: Make) -> Callable[..., tuple[Run, Approval]]:
    """A run whose one step waits for an approval, and that approval."""

    def make(name: str = "t.a", **profile: Any) -> tuple[Run, Approval]:
        tool(name, **{"autonomy": "ask", **profile})
        run = run_through(workflow(name))
        return run, Approval.objects.get(run=run, state="asked")

    return make


def approve(approval: Approval, by: User, **said: Any) -> approvals.Vote:
    return approvals.vote(approval.id, **{"by": by, "why": "as agreed", "seen_digest": approval.digest, **said})


def test_what_asks_waits_and_says_for_what(world: World, asking: Make) -> None:
    run, approval = asking()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, world.sends) == ("blocked", "approval", [])
    assert effect.blocked_by == [{"approval": str(approval.id), "until": approval.expires_at.isoformat()}]
    assert effect.due_at == approval.expires_at
    decision = effect.decisions.get()
    assert (decision.verdict, decision.rule) == ("ask", "asks")


def test_a_plain_valid_approval_lets_it_go_once(world: World, asking: Make, person: Make) -> None:
    run, approval = asking()
    assert approve(approval, person("day-desk", "approver")).approval.state == "granted"
    drain_once()
    assert states(again(run)) == {"a forward": "verified present"}
    assert len(world.sends) == 1
    approval = Approval.objects.get(run=run)
    assert (approval.state, approval.fence) == ("spent", 1)
