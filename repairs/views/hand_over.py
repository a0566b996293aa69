"""Handing a case over: the sender's page with the summary and their words, the receiver's where it is read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from repairs.acts import hand_over as verbs
from repairs.colleagues import colleagues
from repairs.models import Case
from repairs.roles import REPAIRER
from repairs.views.acts import STATUS, whole
from repairs.views.case import find
from repairs.views.queue import holder_of
from repairs.views.screen import act, at_desk, in_role, screen, show, tell
from repairs.words.handing import SEVERITIES
from repairs.words.marked import _
from workflows.errors import MakegoodError, StaleFence


@screen
def hand_over_page(request: HttpRequest, number: int) -> HttpResponse:
    return sender_page(request, find(request, number))


@act
@in_role(REPAIRER)
def hand_over(request: HttpRequest, number: int) -> HttpResponse:
    case, form = find(request, number), request.POST

    def ask() -> None:
        said = {name: form.get(name, "") for name in ("to", "severity", "situation", "contingency")}
        verbs.hand_over(case.id, by=at_desk(request).user, fence=whole(request, "fence"), **said)

    return done(
        request, case, ask, sender_page, _("{name} waits for the read-back; until then it is yours.", name=case.name)
    )


@screen
def read_back_page(request: HttpRequest, number: int) -> HttpResponse:
    return receiver_page(request, find(request, number))


@act
@in_role(REPAIRER)
def accept(request: HttpRequest, number: int) -> HttpResponse:
    case, form = find(request, number), request.POST

    def ask() -> None:
        synthesis, as_of = form.get("synthesis", ""), form.get("as_of", "")
        verbs.accept(case.id, by=at_desk(request).user, synthesis=synthesis, as_of=as_of)

    return done(request, case, ask, receiver_page, _("{name} is yours now.", name=case.name))


@act
def decline(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user
    said = _("{name} is not being handed over any more.", name=case.name)
    return done(
        request, case, lambda: verbs.decline(case.id, by=by, why=request.POST.get("why", "")), receiver_page, said
    )


def done(
    request: HttpRequest, case: Case, verb: Callable[[], None], page: Callable[..., HttpResponse], said: str
) -> HttpResponse:
    """Does it and leads to the case; or shows the page again, with the refusal and all that was typed."""
    try:
        verb()
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        return page(request, find(request, case.number), status=status, error=error)
    tell(request, said)
    return redirect("case", number=case.number)


def sender_page(request: HttpRequest, case: Case, **refused: Any) -> HttpResponse:
    desk, now = at_desk(request), timezone.now()
    holder = case.holder_at(now)
    return page(
        request,
        "console/hand_over.html",
        case,
        summary=verbs.summary_of(case) if case.live else [],
        receivers=colleagues(case, desk.user),
        severities=SEVERITIES,
        may=desk.may_repair and case.live and holder in (None, desk.user.pk) and case.handed_to_id is None,
        holder=holder_of(case, now),
        **refused,
    )


def receiver_page(request: HttpRequest, case: Case, **refused: Any) -> HttpResponse:
    try:
        told = verbs.pending(case)
    except StaleFence as over:
        told, refused = None, {"status": 409, "error": over, **refused}
    mine = case.handed_to_id == at_desk(request).user.pk
    present = verbs.summary_of(case) if told and case.live else []
    return page(
        request,
        "console/read_back.html",
        case,
        told=told,
        severity=SEVERITIES.get(told.facts["severity"], "") if told else "",
        changed=[line for line in present if told and line not in told.facts["summary"]],
        mine=mine,
        **refused,
    )


def page(
    request: HttpRequest,
    template: str,
    case: Case,
    *,
    status: int = 200,
    error: MakegoodError | None = None,
    **more: Any,
) -> HttpResponse:
    return show(request, template, here="queue", status=status, case=case, error=error, typed=request.POST, **more)
