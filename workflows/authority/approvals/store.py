"""Writes approvals, each move with its journal entry in the same commit, in a constant number of statements."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from workflows import journal, rows
from workflows.ledger import ENGINE
from workflows.models import Approval
from workflows.signals import people_asked

COLUMNS = (
    "digest", "digest_version", "fields", "target", "question", "state", "void_reason", "detail", "expires_at",
    "decided_at", "spent_at", "fence", "changed_at", "seq", "head",
)  # fmt: skip


def write(moved: Sequence[Approval], new: Sequence[Approval] = (), *, now: dt.datetime, actor: str = ENGINE) -> None:
    """Both given with `event` set; the caller has locked the moved ones."""
    moved = [approval for approval in moved if approval.event]
    if not moved and not new:
        return
    made = journal.chain([_event(approval, actor) for approval in [*moved, *new]], at=now)
    for approval in [*moved, *new]:
        approval.changed_at = now
    rows.update(moved, COLUMNS, [{} for _ in moved])
    rows.create(new)
    journal.write(made)
    if new:
        people_asked.send(None, approvals=list(new))
    for approval in [*moved, *new]:
        approval.event, approval.payload = "", None
        approval.remember()


def _event(approval: Approval, actor: str) -> journal.Event:
    told = {"digest": approval.digest, **(approval.payload or {})}
    told.update({name: value for name in ("void_reason", "detail") if (value := getattr(approval, name))})
    return journal.Event(
        subject=approval,
        kind="approval",
        run_id=approval.run_id,
        event=approval.event,
        before=approval.was_state,
        after=approval.state,
        fence=approval.fence,
        actor=actor,
        payload={**told, "effect": str(approval.effect_id)},
    )
