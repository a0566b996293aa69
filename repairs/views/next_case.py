"""The button "work on the next case": claims the most harmful one that is free, and leads there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from repairs import keyset, worklist
from repairs.acts import work_next as verb
from repairs.desk import Desk
from repairs.models import Case
from repairs.roles import REPAIRER
from repairs.scope import visible
from repairs.views.screen import act, at_desk, in_role, tell
from repairs.words.marked import _


@act
@in_role(REPAIRER)
def work_next(request: HttpRequest) -> HttpResponse:
    """Where nothing is free, it leads to what they hold already."""
    desk = at_desk(request)
    case = verb.work_next(desk)
    if case is not None:
        tell(request, _("{name} is yours for 15 min.", name=case.name))
    elif (case := held_by(desk)) is not None:
        tell(request, _("Nothing else is free now; {name} is yours already.", name=case.name))
    else:
        tell(request, _("Nothing is free now: each open case is held, set aside, or waits for an answer."))
        return redirect("queue")
    return redirect("case", number=case.number)


def held_by(desk: Desk) -> Case | None:
    """The most harmful of their own."""
    now = timezone.now()
    mine = worklist.harm_first(visible(desk, Case), now).filter(worklist.held(now), claimed_by=desk.user)
    return next(iter(keyset.first_of(mine, order=worklist.ORDER, size=1)), None)
