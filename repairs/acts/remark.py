"""Beside an approval: asking who wants it, answering, leaving it to the others. Nothing of it decides."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.http import Http404

from repairs.desk import Desk
from repairs.models import Remark
from repairs.models.remark import RemarkKind
from repairs.notices import telling
from repairs.roles import APPROVER, OPERATOR, REPAIRER
from repairs.scope import visible
from repairs.words.marked import _
from workflows import rows
from workflows.authority import approvals
from workflows.errors import Denied, StaleFence
from workflows.models import Approval
from workflows.models.approval import ApprovalState
from workflows.why import reason

MAY_ANSWER = frozenset({REPAIRER, APPROVER, OPERATOR})
K = RemarkKind


def say(desk: Desk, approval_id: uuid.UUID, *, kind: RemarkKind, words: str) -> Remark:
    """Raises `Denied`, `Invalid`, `StaleFence` (nobody is asked any more, or it was said already), `Http404`."""
    words = reason(words)
    found = visible(desk, Approval).select_related("effect__agent", "effect__run", "agent").filter(id=approval_id)
    with transaction.atomic():
        approval = found.select_for_update(of=("self",)).first()
        if approval is None:
            raise Http404("There is no such thing.")
        if no := may_not(desk, approval, kind):
            raise Denied(no)
        if approval.state != ApprovalState.ASKED:
            raise StaleFence(_("Nothing is asked any more; it was decided, or called off, meanwhile."))
        said = Remark.objects.filter(approval=approval)
        if kind == K.NOT_MINE and said.filter(kind=kind.value, by=desk.user).exists():
            raise StaleFence(_("You have left it to the others already."))
        if kind == K.ANSWER and not said.filter(kind=K.ASK.value).exists():
            raise StaleFence(_("Nobody has asked anything about it."))
        made = Remark.objects.create(approval=approval, kind=kind.value, by=desk.user, words=words, at=rows.now())
        if kind != K.NOT_MINE:
            telling.of_remark(made, approval.agent.team)
    return made


def may_not(desk: Desk, approval: Approval, kind: RemarkKind) -> str:
    """Why this person can't; "" where they can. Who may decide asks; who works here or stands behind it answers."""
    if kind == K.ANSWER:
        behind = desk.roles & MAY_ANSWER or approvals.asked_for(approval.effect, desk.user)
        return "" if behind else _("You may look, and no more.")
    return approvals.stand(approval, approval.effect, desk.user).no
