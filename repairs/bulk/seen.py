"""Which batches a person may see: those of whose every case they may. What they can't see of one, they can't judge."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from repairs.desk import Desk
from repairs.models import Batch, BatchItem
from repairs.models.batch import BatchState
from repairs.scope import one


def seen_by(desk: Desk) -> QuerySet[Batch]:
    batches = Batch.objects.select_related("by", "second")
    if desk.teams is None:
        return batches
    beyond = BatchItem.objects.filter(batch=OuterRef("pk")).exclude(case__agent__in=desk.agents)
    return batches.filter(~Q(Exists(beyond)))


def found(desk: Desk, batch_id: uuid.UUID) -> Batch:
    """Somebody else's draft isn't there for anybody: nothing was asked for yet."""
    batch = one(seen_by(desk), id=batch_id)
    if batch.state == BatchState.DRAFT and batch.by_id != desk.user.pk:
        raise Http404("There is no such thing.")
    return batch


def asked(desk: Desk) -> list[Any]:
    """Those that wait for this person's word, as the queue says them; nobody confirms their own."""
    if not desk.may_approve:
        return []
    waiting = seen_by(desk).filter(state=BatchState.ASKED.value).exclude(by=desk.user)
    return list(waiting.order_by("id")[:MOST])


MOST = 20  # of what a page tells; the list of batches has all
