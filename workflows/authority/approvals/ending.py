"""Ends what nobody needs to decide any more. Called by the drain every now and then."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import rows
from workflows.authority.approvals import digest, store
from workflows.fetch import fetch
from workflows.models import Approval

BATCH = 500
# Of effects that left, were cancelled or need a person: they can't be sent under it any more.
GONE = """
JOIN workflows_effect e ON e.id = t.effect_id
WHERE t.state IN ('asked', 'granted') AND e.state NOT IN ('blocked', 'ready', 'dispatched')
ORDER BY t.id LIMIT %s FOR UPDATE OF t SKIP LOCKED
"""


def sweep() -> list[uuid.UUID]:
    """Voids approvals whose effect doesn't wait any more; returns their ids."""
    with transaction.atomic():
        now = rows.now()
        gone = fetch(Approval, GONE, [BATCH])
        for approval in gone:
            approval.void(at=now, reason="gone", detail=digest.WORDS["gone"])
        store.write(gone, now=now)
    return [approval.id for approval in gone]
