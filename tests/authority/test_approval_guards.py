"""Each guard of approvals in a pair: with it nothing is sent, and with it patched away the same scenario sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.authority.asking import activate, approve, later, rewritten
from tests.engine.simulated import World
from workflows.authority import approvals, versions
from workflows.authority.approvals import asking as making
from workflows.authority.approvals import judging, rights
from workflows.drain import drain_once
from workflows.errors import Denied
from workflows.models import Agent, Approval, Effect, Run, Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])


def without(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Judges as ever, but for this one flaw."""
    real = judging.flaw
    monkeypatch.setattr(judging, "flaw", lambda *args, **more: "" if (said := real(*args, **more)) == word else said)


@on_and_off
def test_a_spent_approval_lets_no_second_send_go_while_the_first_may_have_happened(
    guard: str, world: World, asking: Asking, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.script("t.a", "execute", "lost_after")
    _, approval = asking(verify=False, observability="none", effect_class="irreversible", undo=False)
    approve(approval, person("day-desk", "approver"))
    if guard == "off":
        without(monkeypatch, "unsettled")
    drain_once()
    assert len(world.sends) == (1 if guard == "on" else 2)


@on_and_off
def test_what_was_approved_is_compared_with_what_would_be_sent(
    guard: str, world: World, asking: Asking, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, approval = asking()
    approve(approval, person("day-desk", "approver"))
    rewritten("workflows_effect", "arguments", {"of": "somebody else"}, Effect.objects.get(run=run).id)
    if guard == "off":
        real = making.fields_of
        monkeypatch.setattr(
            making, "fields_of", lambda *args: {**real(*args), "arguments": approval.fields["arguments"]}
        )
    drain_once()
    assert [thing["of"] for thing in world.things.values()] == ([] if guard == "on" else ["somebody else"])


@on_and_off
def test_an_approval_ends_with_its_time(
    guard: str, world: World, asking: Asking, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, approval = asking()
    approve(approval, person("day-desk", "approver"))
    later(approval)
    if guard == "off":
        without(monkeypatch, judging.EXPIRED)
    drain_once()
    assert len(world.sends) == (0 if guard == "on" else 1)


@on_and_off
def test_who_asked_does_not_approve(
    guard: str, world: World, asking: Asking, agent: Agent, person: Make, settings: Any, monkeypatch: Any
) -> None:
    settings.FOUR_EYES = "required"
    Agent.objects.filter(id=agent.id).update(on_behalf_of="person:day-desk")
    _, approval = asking()
    mine = person("day-desk", "approver")
    if guard == "off":
        monkeypatch.setattr(rights, "requesters", lambda _: set())
        approve(approval, mine)
    else:
        with pytest.raises(Denied):
            approve(approval, mine)
    drain_once()
    assert len(world.sends) == (0 if guard == "on" else 1)


@on_and_off
def test_an_approval_given_under_another_policy_is_none(
    guard: str, world: World, asking: Asking, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, approval = asking()
    approve(approval, person("day-desk", "approver"))
    activate("{name: asks, when: 'true', then: {ask: {}}}")
    if guard == "off":
        real = making.fields_of
        monkeypatch.setattr(making, "fields_of", lambda *args: {**real(*args), "policy": approval.policy})
    drain_once()
    assert len(world.sends) == (0 if guard == "on" else 1)


@on_and_off
def test_an_approver_who_lost_the_role_counts_no_more(
    guard: str, world: World, asking: Asking, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, approval = asking()
    desk = person("day-desk", "approver")
    approve(approval, desk)
    desk.groups.clear()
    if guard == "off":
        monkeypatch.setattr(rights, "entitled", lambda *_, **__: True)
    drain_once()
    assert len(world.sends) == (0 if guard == "on" else 1)


@on_and_off
def test_a_withdrawn_version_is_not_called_for_what_was_approved(
    guard: str, world: World, asking: Asking, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, approval = asking()
    approve(approval, person("day-desk", "approver"))
    versions.withdraw(Tool.objects.get(name="t.a"), by="person:owner", why="it books twice")
    if guard == "off":
        monkeypatch.setattr(versions, "trouble", lambda *_, **__: "")
    drain_once()
    assert len(world.sends) == (0 if guard == "on" else 1)


@on_and_off
def test_what_is_asked_is_not_sent_before_somebody_answered(
    guard: str, world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a", autonomy="ask")
    if guard == "off":
        monkeypatch.setattr(approvals, "present", lambda asks, *_: [effect for effect, _ in asks])
    run_through(workflow("t.a"))
    assert len(world.sends) == (0 if guard == "on" else 1)
