"""What was asked, answered and left to others beside approvals. For their pages."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db.models import Exists, OuterRef

from repairs.desk import Desk
from repairs.models import Remark
from repairs.models.remark import RemarkKind
from workflows.models import Approval


def of(rows: Sequence[Approval]) -> dict[uuid.UUID, list[Remark]]:
    """By approval, the first ones first. One query."""
    found: dict[uuid.UUID, list[Remark]] = {}
    for remark in Remark.objects.filter(approval__in=[row.id for row in rows]).select_related("by"):
        found.setdefault(remark.approval_id, []).append(remark)
    return found


def unanswered(said: Sequence[Remark]) -> bool:
    """Whether the last word of a question and its answer is the question."""
    words = [remark.kind for remark in said if remark.kind != RemarkKind.NOT_MINE]
    return bool(words) and words[-1] == RemarkKind.ASK


def left_by(desk: Desk) -> Exists:
    """Of an approval: whether this person has left it to the others."""
    mine = Remark.objects.filter(approval=OuterRef("pk"), by=desk.user, kind=RemarkKind.NOT_MINE.value)
    return Exists(mine)
