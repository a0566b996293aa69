"""What dispatch does about approvals, in its transaction: asks, waits, goes on with a valid grant, and spends it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Sequence

from workflows.authority import ending
from workflows.authority.approvals import asking, judging, rights, store
from workflows.authority.verdict import Verdict
from workflows.fetch import fetch
from workflows.models import Approval, Effect
from workflows.models.approval import IN_FORCE
from workflows.models.approval import ApprovalState as A
from workflows.rows import ids
from workflows.signals import people_should_know

MOST_UNDECIDED = 2  # rounds in which nobody decided in time: who wasn't found in two isn't found in a third
OF_EFFECTS = "WHERE t.effect_id = ANY (%s::uuid[]) ORDER BY t.id FOR UPDATE"


def present(asks: Sequence[tuple[Effect, Verdict]], now: dt.datetime, stopped: list[Effect]) -> list[Effect]:
    """Those for which a valid approval lies here. The others are blocked as `approval`, which is asked for in the same
    transaction, or ended where nobody ever decided; they are put into `stopped`."""
    if not asks:
        return []
    found: dict[uuid.UUID, list[Approval]] = defaultdict(list)
    for one in fetch(Approval, OF_EFFECTS, [ids(effect.id for effect, _ in asks)]):
        found[one.effect_id].append(one)
    decided = [a for mine in found.values() for a in mine if a.state in (A.GRANTED, A.SPENT)]
    lost = rights.lost(decided)
    going: list[Effect] = []
    new: list[Approval] = []
    for effect, verdict in asks:
        mine = found[effect.id]
        approval = _latest(mine)
        if approval is not None and (flaw := judging.flaw(approval, effect, verdict, now, lost.get(approval.id, ""))):
            judging.end(approval, flaw, now)
            approval = None
        if approval is not None and approval.state != A.ASKED:
            effect.approval = approval
            going.append(effect)
        elif approval is not None:
            _wait(effect, approval, stopped)
        elif sum(a.state == A.EXPIRED and not a.void_reason for a in mine) >= MOST_UNDECIDED:
            _give_up(effect, stopped)
            people_should_know.send(None, thing=mine[-1])
        else:
            new.append(asking.asked(effect, verdict, now, number=len(mine) + 1))
            _wait(effect, new[-1], stopped)
    store.write([a for mine in found.values() for a in mine], new, now=now)
    return going


def _latest(approvals: Sequence[Approval]) -> Approval | None:
    return next((a for a in reversed(approvals) if a.state in IN_FORCE), None)


def _wait(effect: Effect, approval: Approval, stopped: list[Effect]) -> None:
    by = [{"approval": str(approval.id), "until": approval.expires_at.isoformat()}]
    effect.block(reason="approval", blocked_by=by, due_at=approval.expires_at)
    stopped.append(effect)


def _give_up(effect: Effect, stopped: list[Effect]) -> None:
    detail = f"nobody decided about it in time, {MOST_UNDECIDED} times"
    ending.end(effect, reason="policy", detail=detail)
    stopped.append(effect)


def spend(effects: Sequence[Effect], now: dt.datetime) -> None:
    """Spends the approvals of effects that are dispatched now, in the transaction that does so."""
    under = [effect for effect in effects if effect.approval is not None]
    for effect in under:
        effect.approval.spend(at=now, fence=effect.fence)
        effect.approval.payload = {"attempt": effect.attempts}
    store.write([effect.approval for effect in under], now=now)
