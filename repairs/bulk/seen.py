"""Which batches a person or team may see: those of whose every case they may. What one can't see, one can't judge."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from repairs.desk import Desk
from repairs.models import Batch
from repairs.models.batch import BatchState
from repairs.scope import one
from workflows.models import Team


def seen_by(desk: Desk) -> QuerySet[Batch]:
    batches = Batch.objects.select_related("by", "second")
    if desk.teams is None:
        return batches
    return batches.filter(agents__contained_by=list(desk.agents))


def found(desk: Desk, batch_id: uuid.UUID) -> Batch:
    """Somebody else's draft isn't there for anybody: nothing was asked for yet."""
    batch = one(seen_by(desk), id=batch_id)
    if batch.state == BatchState.DRAFT and batch.by_id != desk.user.pk:
        raise Http404("There is no such thing.")
    return batch


def team_of(batch: Batch) -> str:
    """The nearest team whose people see all of its cases; "" where only those do who see everything."""
    teams = batch.items.order_by().values_list("case__agent__team", flat=True).distinct()
    above = dict(Team.objects.values_list("name", "parent__name"))
    upwards = [line_of(team, above) for team in teams]
    return next((name for name in upwards[0] if all(name in line for line in upwards)), "")


def line_of(team: str, above: Mapping[str, str | None]) -> list[str]:
    """The team and those over it. It would end even if teams stood in a circle."""
    line: list[str] = []
    name: str | None = team
    while name and name not in line:
        line.append(name)
        name = above.get(name)
    return line


def asked(desk: Desk) -> list[Any]:
    """Those that wait for this person's word, as the queue says them; nobody confirms their own."""
    if not desk.may_approve:
        return []
    waiting = seen_by(desk).filter(state=BatchState.ASKED.value).exclude(by=desk.user)
    return list(waiting.order_by("id")[:MOST])


MOST = 20  # of what a page tells; the list of batches has all
