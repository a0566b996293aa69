"""Who has a case and until when: setting it aside and waking it, asking for help and answering,
opening it again and closing it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from repairs.acts import escalate as escalates
from repairs.acts import hurts as hurting
from repairs.acts import reopen as reopens
from repairs.acts import snooze as snoozes
from repairs.roles import REPAIRER
from repairs.views.acts import done, whole, why
from repairs.views.case import find
from repairs.views.screen import act, at_desk, in_role
from repairs.words.marked import _


@act
@in_role(REPAIRER)
def snooze(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        cause, until = request.POST.get("cause", ""), request.POST.get("until", "")
        snoozes.snooze(case.id, by=by, why=why(request), cause=cause, until=until, fence=whole(request, "fence"))

    return done(request, case, ask, _("{name} is set aside, and wakes by itself.", name=case.name))


@act
@in_role(REPAIRER)
def wake(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user
    return done(request, case, lambda: snoozes.wake(case.id, by=by), _("{name} is awake.", name=case.name))


@act
@in_role(REPAIRER)
def hurts(request: HttpRequest, number: int) -> HttpResponse:
    case, by, at = find(request, number), at_desk(request).user, request.POST.get("at", "")
    said = f"{case.name} has another cut-off now." if at.strip() else f"{case.name} has that cut-off no more."
    return done(request, case, lambda: hurting.hurts(case.id, by=by, at=at, why=why(request)), said)


@act
@in_role(REPAIRER)
def escalate(request: HttpRequest, number: int) -> HttpResponse:
    case, by, to = find(request, number), at_desk(request).user, request.POST.get("to", "")
    said = _("{name} is escalated; who can help is told.", name=case.name)
    return done(request, case, lambda: escalates.escalate(case.id, by=by, to=to, why=why(request)), said)


@act
def answer(request: HttpRequest, number: int) -> HttpResponse:
    case, desk = find(request, number), at_desk(request)
    said = _("Answered; {name} isn't escalated any more.", name=case.name)
    return done(request, case, lambda: escalates.answer(case.id, desk=desk, why=why(request)), said)


@act
@in_role(REPAIRER)
def reopen(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user
    said = _("{name} is open again, and yours.", name=case.name)
    return done(request, case, lambda: reopens.reopen(case.id, by=by, why=why(request)), said)


@act
@in_role(REPAIRER)
def close(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        reopens.close(case.id, by=by, why=why(request), fence=whole(request, "fence"))

    return done(request, case, ask, _("{name} is closed.", name=case.name))
