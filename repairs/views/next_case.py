"""The button "work on the next case": claims the most harmful one that is free, and leads there."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs.acts import work_next as verb
from repairs.roles import REPAIRER
from repairs.views.screen import act, at_desk, in_role


@act
@in_role(REPAIRER)
def work_next(request: HttpRequest) -> HttpResponse:
    case = verb.work_next(at_desk(request))
    if case is None:
        messages.info(request, "Nothing is free now: each open case is held, set aside, or waits for an answer.")
        return redirect("queue")
    messages.success(request, f"{case.name} is yours for 15 min.")
    return redirect("case", number=case.number)
