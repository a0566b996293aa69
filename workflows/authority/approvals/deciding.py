"""What a person says of an approval. Locks run, effect, approval; answers with what the engine made of it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid

from django.contrib.auth.models import User
from django.db import transaction

from workflows import ledger, rows
from workflows.authority import ending, four_eyes, policy, stops, versions
from workflows.authority.approvals import digest, judging, rights, store
from workflows.authority.verdict import Verdict
from workflows.errors import Denied, NotFound, StaleFence
from workflows.marked import _
from workflows.models import Approval, ApprovalVote, Effect
from workflows.models.approval import ApprovalState as A
from workflows.states import EffectState
from workflows.why import reason

APPROVE, REFUSE = "approve", "refuse"
WAITS = (EffectState.BLOCKED, EffectState.READY)


@dataclasses.dataclass(frozen=True, slots=True)
class Vote:
    """What became of a word: `approval` as it is now, how many valid votes it has, and, where the word could not be
    taken, why (a word of `digest.WORDS`, or "expired") and in a sentence."""

    approval: Approval
    counted: int = 0
    turned_down: str = ""
    detail: str = ""


def vote(
    approval_id: uuid.UUID,
    *,
    by: User,
    why: str,
    seen_digest: str,
    opened_at: dt.datetime | None = None,
    glass: bool = False,
) -> Vote:
    """One person approves exactly what they saw; with the last needed vote the effect may go. `glass`: see `four_eyes`.

    Raises `NotFound`, `Invalid`, `Denied` (may not), `StaleFence` (decided already, or not what was seen)."""
    why = reason(why)
    with transaction.atomic():
        approval, effect, now = locked(approval_id)
        _open(approval)
        stand = rights.stand(approval, effect, by)
        if trouble := stand.why_not(glass=glass):
            raise Denied(trouble)
        if turned_down := _turned_down(approval, effect, now, by):
            return turned_down
        if seen_digest != approval.digest:
            raise StaleFence(
                _("What is asked has changed since this page was opened; read it again before you approve.")
            )
        if approval.votes.filter(by=by, seen_digest=approval.digest).exists():
            raise StaleFence(_("{login} has approved this already; another person is needed.", login=by.get_username()))
        told = four_eyes.broken(approval, by=actor(by), why=why) if stand.another else {}
        _keep(approval, APPROVE, by, why, now, opened_at, alone=bool(stand.another))
        counted = rights.counted([approval])[approval.id]
        approval.payload = {"by": by.get_username(), "why": why, "votes": counted, **told}
        if counted >= approval.needed:
            approval.grant(at=now)
            _release(effect, now, by)
        else:
            approval.event = "vote"
        store.write([approval], now=now, actor=actor(by))
    return Vote(approval, counted)


def refuse(
    approval_id: uuid.UUID, *, by: User, why: str, seen_digest: str, opened_at: dt.datetime | None = None
) -> Vote:
    """One person's no ends it: a forward effect is cancelled, an undoing needs a person. The requester may say no too.

    Raises `NotFound`, `Invalid`, `Denied`, `StaleFence`."""
    why = reason(why)
    with transaction.atomic():
        approval, effect, now = locked(approval_id)
        _open(approval)
        if trouble := rights.why_not_refuse(approval, effect, by):
            raise Denied(trouble)
        _keep(approval, REFUSE, by, why, now, opened_at, seen_digest=seen_digest)
        detail = f"{by.get_username()} refused it: {why}"
        approval.payload = {"by": by.get_username(), "why": why}
        approval.refuse(at=now, detail=detail)
        store.write([approval], now=now, actor=actor(by))
        _stop(effect, now, by, detail)
    return Vote(approval)


def revoke(approval_id: uuid.UUID, *, by: User, why: str) -> Vote:
    """Takes a grant back. What has not begun to be sent isn't sent, even if it was dispatched; it is asked for anew.

    Raises `StaleFence` where there is nothing to take back any more."""
    why = reason(why)
    with transaction.atomic():
        approval, effect, now = locked(approval_id)
        under_way = approval.state == A.SPENT and effect.state == EffectState.DISPATCHED
        if not (approval.state == A.GRANTED or under_way or (approval.state == A.SPENT and effect.state in WAITS)):
            states = {"approval": approval.state, "effect": effect.state}
            raise StaleFence(_("The approval is {approval} and the effect {effect}: nothing to take back.", **states))
        if (trouble := rights.why_not(approval, effect, by)) and not approval.votes.filter(by=by).exists():
            raise Denied(trouble)
        approval.payload = {"by": by.get_username(), "why": why}
        approval.void(at=now, reason="revoked", detail=f"{by.get_username()} took it back: {why}")
        store.write([approval], now=now, actor=actor(by))
        ledger.notify([effect.run_id], work=True)
    stops.quiet()  # a call that was allowed before this has begun by now; none begins any more
    return Vote(approval)


def actor(user: User) -> str:
    """How the journal names a person."""
    return f"person:{user.get_username()}"[:100]


def locked(approval_id: uuid.UUID) -> tuple[Approval, Effect, dt.datetime]:
    """Run, effect and approval, locked in that order, and the database's time. The run is woken: it may move."""
    run_id = Approval.objects.filter(id=approval_id).values_list("run_id", flat=True).first()
    if run_id is None:
        raise NotFound(_("There is no such approval."))
    ledger.wake_runs([run_id])
    effect_id = Approval.objects.values_list("effect_id", flat=True).get(id=approval_id)
    effect = Effect.objects.select_related("tool", "agent", "run").select_for_update(of=("self",)).get(id=effect_id)
    approval = Approval.objects.select_for_update().get(id=approval_id)
    return approval, effect, rows.now()


def _open(approval: Approval) -> None:
    if approval.state == A.ASKED:
        return
    told = {"state": approval.state, "time": f"{approval.decided_at:%Y-%m-%d %H:%M}"}
    if why := approval.detail or approval.void_reason:
        raise StaleFence(_("This was {state} at {time} UTC ({why}); nothing is asked.", why=why, **told))
    raise StaleFence(_("This was {state} at {time} UTC; nothing is asked.", **told))


def _turned_down(approval: Approval, effect: Effect, now: dt.datetime, by: User) -> Vote | None:
    """Ends an approval that is not of what would be sent now; dispatch asks anew where that makes sense."""
    waits, present = effect.state in WAITS, policy.present([effect.tool_id])
    if waits and versions.trouble(effect, present, asks=True):
        flaw = "version"
    else:
        flaw = judging.flaw(approval, effect, _as_asked(approval, present), now) if waits else "gone"
    if not flaw:
        return None
    judging.end(approval, flaw, now)
    store.write([approval], now=now, actor=actor(by))
    if flaw != "gone":
        _release(effect, now, by)
    said = "nobody decided it in time" if flaw == judging.EXPIRED else digest.WORDS[flaw]
    return Vote(approval, 0, flaw, said)


def _as_asked(approval: Approval, present: policy.Present) -> Verdict:
    """What the policy said when it asked, under the version that is in force now: another version asks anew."""
    approvers = approval.approvers if isinstance(approval.approvers, str) else tuple(approval.approvers)
    label = present.ruled.label
    return Verdict(policy.ASK, approval.reason, approval.why, approvers, approval.needed, policy=label)


def _keep(
    approval: Approval,
    verdict: str,
    by: User,
    why: str,
    now: dt.datetime,
    opened_at: dt.datetime | None,
    *,
    seen_digest: str | None = None,
    alone: bool = False,
) -> None:
    ApprovalVote.objects.create(
        approval=approval,
        by=by,
        verdict=verdict,
        why=why,
        at=now,
        opened_at=opened_at,
        seen_digest=approval.digest if seen_digest is None else seen_digest[:64],
        alone=alone,
    )


def _release(effect: Effect, now: dt.datetime, by: User) -> None:
    if effect.state == EffectState.BLOCKED and effect.reason == "approval":
        effect.release(due_at=now)
        ledger.save_effects([effect], now=now, actor=actor(by))


def _stop(effect: Effect, now: dt.datetime, by: User, detail: str) -> None:
    if effect.state not in WAITS:
        return
    ending.end(effect, reason="policy", detail=detail)
    ledger.save_effects([effect], now=now, actor=actor(by))
