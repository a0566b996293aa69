"""What a person says on the page of an approval: read its target, approve, refuse, take back. Each is a POST."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.contrib.auth import SESSION_KEY
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs.acts import approve as acts
from repairs.acts import proof
from repairs.acts import remark as remarks
from repairs.models.remark import RemarkKind
from repairs.roles import APPROVER, OPERATOR, REPAIRER
from repairs.views.acts import STATUS, why
from repairs.views.approval import find, for_good, show_approval
from repairs.views.screen import act, at_desk, tell
from repairs.words.marked import _, ngettext
from repairs.words.refusals import refusal
from workflows.authority import approvals
from workflows.authority.approvals import Vote
from workflows.engine import peek
from workflows.errors import Denied, MakegoodError
from workflows.models import Approval
from workflows.models.approval import ApprovalState


@act
def read(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    """Wants the target read now. It is a worker who reads: no call goes out from a web request."""
    approval = find(request, approval_id)
    more_than_reads(request, approval)
    if not peek.ask(approval.id):
        tell(request, _("Nobody is asked any more; the target isn't read."))
    whole = "?whole=1" if request.POST.get("whole") == "1" else ""
    return redirect(f"/approvals/{approval.id}/{whole}")


@act
def approve(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    glass = request.POST.get("glass") == "yes"

    def say() -> Vote:
        return acts.approve(
            approval_id,
            by=at_desk(request).user,
            session=request.session,
            why=why(request),
            note=request.POST.get("note", ""),
            answer=request.POST.get("answer", ""),
            unread=request.POST.get("unread") == "yes",
            glass=glass,
        )

    return done(request, approval_id, say, yes=True, glass=glass)


@act
def refuse(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    note = request.POST.get("note", "")
    user = at_desk(request).user
    return done(
        request,
        approval_id,
        lambda: acts.refuse(approval_id, by=user, session=request.session, why=why(request), note=note),
        no=True,
    )


@act
def remark(request: HttpRequest, approval_id: uuid.UUID, kind: RemarkKind) -> HttpResponse:
    """A question, an answer, or that the person leaves it to the others. Decides nothing."""
    approval = find(request, approval_id)
    if not (kind == RemarkKind.ANSWER and approvals.asked_for(approval.effect, at_desk(request).user)):
        more_than_reads(request, approval)
    try:
        remarks.say(at_desk(request), approval_id, kind=kind, words=why(request))
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        again = find(request, approval_id)
        return show_approval(request, again, status=status, error=refusal(error), kept=why(request))
    tell(request, REMARKED[kind])
    return redirect("approvals") if kind == RemarkKind.NOT_MINE else redirect("approval", approval_id=approval_id)


REMARKED = {
    RemarkKind.ASK: _("Asked. Nothing is decided by it; its time goes on."),
    RemarkKind.ANSWER: _("Answered."),
    RemarkKind.NOT_MINE: _("Left to the others; it isn't on your list any more."),
}


@act
def take_back(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    user = at_desk(request).user
    return done(
        request, approval_id, lambda: acts.take_back(approval_id, by=user, session=request.session, why=why(request))
    )


def done(
    request: HttpRequest,
    approval_id: uuid.UUID,
    say: Callable[[], Vote],
    *,
    yes: bool = False,
    no: bool = False,
    glass: bool = False,
) -> HttpResponse:
    """Says it and leads back to the page, which shows what the engine made of it; a refusal keeps what was typed."""
    approval = find(request, approval_id)
    if not (no and approvals.asked_for(approval.effect, at_desk(request).user)):
        more_than_reads(request, approval)
    try:
        itself(request)
        proof.demand(request, at_desk(request), strong=glass or (yes and for_good(approval)))
        vote = say()
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        again = find(request, approval.id)
        return show_approval(request, again, status=status, error=error.detail, kept=why(request))
    if vote.turned_down:
        detail = _("It can't be approved any more: {why}. Where that makes sense it is asked anew.", why=vote.detail)
        return show_approval(request, find(request, approval.id), status=409, error=detail, kept=why(request))
    tell(request, told(vote))
    return redirect("approval", approval_id=approval.id)


def more_than_reads(request: HttpRequest, approval: Approval) -> None:
    """403 for who may only look, before anything of the form is read. Who else may say what, the engine decides."""
    desk = at_desk(request)
    named = isinstance(approval.approvers, list) and desk.user.get_username() in approval.approvers
    if not named and not desk.roles & {REPAIRER, APPROVER, OPERATOR}:
        raise PermissionDenied(_("You may look, and no more."))


def itself(request: HttpRequest) -> None:
    """Refuses whoever acts in another person's name: the session must be that of the person who decides."""
    other = request.session.get("hijack_history") or getattr(request, "impersonator", None)
    if other or request.session.get(SESSION_KEY) != str(request.user.pk):
        raise Denied(_("You act in another person's name; only the person themselves can decide."))


def told(vote: Vote) -> str:
    """What the engine made of a person's word."""
    match vote.approval.state:
        case ApprovalState.GRANTED:
            return _("Approved; not sent yet.")
        case ApprovalState.ASKED:
            needed = vote.approval.needed
            return ngettext(
                "Your approval counts, {yes} of {needed}; it takes {count} more.",
                "Your approval counts, {yes} of {needed}; it takes {count} more.",
                needed - vote.counted,
                yes=vote.counted,
                needed=needed,
            )
        case ApprovalState.REFUSED:
            return _("Refused; it is not sent.")
        case state:
            return _("It is {state} now.", state=state)
