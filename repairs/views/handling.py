"""Who has a case and until when: setting it aside and waking it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from repairs.acts import snooze as snoozes
from repairs.roles import REPAIRER
from repairs.views.acts import done, whole, why
from repairs.views.case import find
from repairs.views.screen import act, at_desk, in_role


@act
@in_role(REPAIRER)
def snooze(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        cause, until = request.POST.get("cause", ""), request.POST.get("until", "")
        snoozes.snooze(case.id, by=by, why=why(request), cause=cause, until=until, fence=whole(request, "fence"))

    return done(request, case, ask, f"{case.name} is set aside, and wakes by itself.")


@act
@in_role(REPAIRER)
def wake(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user
    return done(request, case, lambda: snoozes.wake(case.id, by=by), f"{case.name} is awake.")
