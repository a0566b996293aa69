"""The form on a run's page by which a person opens its case."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs.acts.open_case import open_case as opening
from repairs.roles import REPAIRER
from repairs.views.acts import STATUS, pressed, why
from repairs.views.run import show_run
from repairs.views.run_head import find
from repairs.views.screen import act, at_desk, in_role, tell
from repairs.words.marked import _
from workflows.errors import MakegoodError


@act
@in_role(REPAIRER)
def open_case(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Leads to the case. A refusal shows the run as it is now, with what was typed."""
    run, by = find(request, run_id), at_desk(request).user
    try:
        over = pressed(request, "over", "under-way") == "over"
        case = opening(run.id, by=by, why=why(request), over=over)
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        return show_run(request, find(request, run_id), status=status, error=error, kept=why(request))
    tell(request, _("{name} is open, and yours. Nothing was sent; what is to be done is done here.", name=case.name))
    return redirect("case", case.number)
