"""Whether an approval still is of what would be sent now, by whom it must be. Asked at the click and at dispatch."""

from __future__ import annotations

import datetime as dt
from typing import Any

from workflows.authority.approvals import asking, digest
from workflows.authority.verdict import Verdict
from workflows.models import Approval, Effect
from workflows.models.approval import ApprovalState as A

EXPIRED = "expired"
TOO_LATE = "too_late"  # it was decided, and then not sent before its time was over


def flaw(approval: Approval, effect: Effect, asks: Verdict, now: dt.datetime, lost: str = "") -> str:
    """Why this approval lets nothing go now: "expired", or a word of `digest.WORDS`; empty where it does (or, while
    persons are still asked, could). `asks`: what the policy in force says now; `lost`: what its approvers lost."""
    if approval.expires_at <= now:
        return EXPIRED
    fields = asking.fields_of(effect, asks.policy, approval.target)
    if differs := digest.difference(approval.fields, fields):
        return differs
    if approval.digest != digest.digest_of(fields):
        return "other_effect"
    if (approval.reason, approval.approvers, approval.needed) != (asks.rule, listed(asks.approvers), asks.count):
        return "rule_changed"
    if lost:
        return lost
    if approval.state == A.SPENT and (effect.doubt or effect.world != "nothing"):
        return "unsettled"
    return ""


def end(approval: Approval, flaw: str, now: dt.datetime) -> None:
    """Makes it count no more, saying why."""
    if flaw == EXPIRED:
        approval.void_reason = "" if approval.state == A.ASKED else TOO_LATE
        approval.expire(at=now)
    else:
        approval.void(at=now, reason=flaw, detail=digest.WORDS[flaw])


def listed(approvers: Any) -> Any:
    """A role as it is; logins as the list that a JSON column keeps."""
    return approvers if isinstance(approvers, str) else list(approvers)
