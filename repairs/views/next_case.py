"""The button "work on the next case": claims the most harmful one that is free, and leads there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs.acts import work_next as verb
from repairs.roles import REPAIRER
from repairs.views.screen import act, at_desk, in_role, tell
from repairs.words.marked import _


@act
@in_role(REPAIRER)
def work_next(request: HttpRequest) -> HttpResponse:
    case = verb.work_next(at_desk(request))
    if case is None:
        tell(request, _("Nothing is free now: each open case is held, set aside, or waits for an answer."))
        return redirect("queue")
    tell(request, _("{name} is yours for 15 min.", name=case.name))
    return redirect("case", number=case.number)
