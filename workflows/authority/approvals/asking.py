"""Makes the row by which persons are asked: what exactly would be sent, who may say so, and until when."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from workflows.authority.approvals import digest
from workflows.authority.approvals.question import question_of
from workflows.authority.verdict import Verdict
from workflows.fetch import new
from workflows.models import Approval, Effect
from workflows.toolbox import pins_of


def fields_of(effect: Effect, policy: str, target: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an approval of this effect would be over now. `target`: what was last read of what it acts on."""
    tool = effect.tool
    profile, implementation = pins_of(tool)
    return {
        "effect": str(effect.id),
        "key": effect.key,
        "agent": str(effect.agent_id),
        "kind": effect.kind,
        "operation": effect.operation,
        "arguments": effect.arguments,
        "tool": tool.name,
        "version": tool.version,
        "definition": tool.digest,
        "implementation": implementation,
        "profile": profile,
        "policy": policy,
        "target_version": (target or {}).get("version"),
    }


def asked(
    effect: Effect, verdict: Verdict, now: dt.datetime, *, target: Mapping[str, Any] | None = None, number: int = 1
) -> Approval:
    fields = fields_of(effect, verdict.policy, target)
    approval = new(
        Approval,
        effect_id=effect.id,
        run_id=effect.run_id,
        agent_id=effect.agent_id,
        digest=digest.digest_of(fields),
        digest_version=digest.VERSION,
        fields=fields,
        tool=effect.tool.name,
        act=effect.kind,
        effect_class=effect.effect_class,
        reason=verdict.rule,
        why=verdict.reason,
        policy=verdict.policy,
        origin=effect.origin,
        target=dict(target) if target else None,
        question=question_of(effect.effect_class, effect.arguments, effect.targets),
        approvers=verdict.approvers if isinstance(verdict.approvers, str) else list(verdict.approvers),
        needed=verdict.count,
        round=number,
        asked_at=now,
        expires_at=_until(effect, verdict, now),
        changed_at=now,
    )
    approval.event = "ask"
    approval.payload = {"rule": verdict.rule, "policy": verdict.policy, "needed": verdict.count, "round": number}
    return approval


def _until(effect: Effect, verdict: Verdict, now: dt.datetime) -> dt.datetime:
    """A forward effect is asked about no longer than its run may last: after that it would be cancelled anyhow."""
    until = now + dt.timedelta(seconds=verdict.ttl)
    deadline = effect.run.deadline if effect.forward else None
    return min(until, deadline) if deadline is not None and deadline > now else until


def again(approval: Approval, now: dt.datetime, target: Mapping[str, Any]) -> Approval:
    """The same question once more, about the target as it is now."""
    fields = {**approval.fields, "target_version": target["version"]}
    names = ("effect_id", "run_id", "agent_id", "tool", "act", "effect_class", "reason", "why", "policy", "origin")
    same = {name: getattr(approval, name) for name in (*names, "question", "approvers", "needed")}
    anew = new(
        Approval,
        **same,
        digest=digest.digest_of(fields),
        digest_version=digest.VERSION,
        fields=fields,
        target=dict(target),
        round=approval.round + 1,
        asked_at=now,
        expires_at=now + (approval.expires_at - approval.asked_at),
        changed_at=now,
    )
    anew.event = "ask"
    anew.payload = {"rule": approval.reason, "policy": approval.policy, "needed": approval.needed, "round": anew.round}
    return anew
