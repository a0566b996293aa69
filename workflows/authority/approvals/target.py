"""What an approval knows of what it acts on: kept from a fresh read, compared with the read before the call."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.authority.approvals import digest, store
from workflows.authority.approvals.asking import again
from workflows.fetch import fetch
from workflows.models import Approval, Effect
from workflows.models.approval import ApprovalState as A
from workflows.states import EffectState

EFFECTS = "SELECT 1 FROM workflows_effect WHERE id = ANY (%s::uuid[]) ORDER BY id FOR NO KEY UPDATE"


def keep_target(
    approval_id: uuid.UUID,
    *,
    image: Mapping[str, Any],
    version: Any,
    at: dt.datetime,
    told: Mapping[str, Any] | None = None,
) -> Approval | None:
    """Keeps what was just read of the target, beside what was read of it first; `told`: how it was read. Where its
    version is another than before, votes cast until now count no more, and what was granted is void. None where the
    approval isn't live any more."""
    with transaction.atomic():
        run_id = Approval.objects.filter(id=approval_id).values_list("run_id", flat=True).first()
        if run_id is None:
            return None
        ledger.wake_runs([run_id])
        approval = Approval.objects.select_for_update().get(id=approval_id)
        if not approval.live:
            return None
        now = rows.now()
        same = approval.fields["target_version"] == version
        if approval.state == A.GRANTED and not same:
            approval.void(at=now, reason="target_changed", detail=digest.WORDS["target_changed"])
        else:
            this = {**(told or {}), "image": dict(image), "version": version, "at": at.isoformat()}
            approval.target = {**this, "first": first_read(approval.target) or this}
            approval.fields = {**approval.fields, "target_version": version}
            approval.digest = digest.digest_of(approval.fields)
            approval.event = "read_target"
            approval.payload = {"version": version, "same": same}
        store.write([approval], now=now)
    return approval


def first_read(target: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The first read of a target that succeeded, to be compared with the last; None where none did yet."""
    if not target or "image" not in target:
        return None
    first: dict[str, Any] = target.get("first") or dict(target)
    return first


def could_not_read(approval_id: uuid.UUID, *, by: str, reason: str, at: dt.datetime) -> None:
    """Keeps that the target could not be read, beside what was read of it before, which may be old by now."""
    with transaction.atomic():
        approval = Approval.objects.select_for_update().filter(id=approval_id).first()
        if approval is None or not approval.live:
            return
        failed = {"by": by, "reason": reason, "at": at.isoformat()}
        approval.target = {"version": None, **(approval.target or {}), "failed": failed}
        approval.event = "read_target"
        approval.payload = {"could_not_read": reason}
        store.write([approval], now=rows.now())


def changed_target(read: Sequence[tuple[Effect, Mapping[str, Any], Any]], now: dt.datetime) -> set[uuid.UUID]:
    """Of dispatched effects, each with the image and version read right before its call, those that were approved for
    another version. Their approvals are void and asked anew with what was read. Called in the transaction that keeps
    the images."""
    under = {e.approval.id: (e, image, version) for e, image, version in read if e.approval is not None}
    if not under:
        return set()
    # Effects before approvals, as persons' words lock them.
    with connection.cursor() as cursor:
        cursor.execute(EFFECTS, [rows.ids(effect.id for effect, _, _ in under.values())])
    found = fetch(Approval, "WHERE t.id = ANY (%s::uuid[]) ORDER BY t.id FOR UPDATE", [rows.ids(under)])
    moved, new, changed = [], [], set()
    for approval in found:
        effect, image, version = under[approval.id]
        if approval.fields["target_version"] == version:
            continue
        changed.add(effect.id)
        if approval.state != A.SPENT or effect.state != EffectState.DISPATCHED:
            continue
        approval.void(at=now, reason="target_changed", detail=digest.WORDS["target_changed"])
        moved.append(approval)
        new.append(again(approval, now, {"image": dict(image), "version": version, "at": now.isoformat()}))
    store.write(moved, new, now=now)
    return changed
