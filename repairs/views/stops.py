"""Stops: what is frozen and what waits for it, the form that freezes, and who froze and lifted what before."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from repairs import frozen, keyset
from repairs.acts import proof
from repairs.acts import stop as acts
from repairs.desk import Desk
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words import terms
from repairs.words.marked import _
from workflows import rows
from workflows.authority.until import until_of
from workflows.errors import Denied, Invalid, MakegoodError, NotFound, StaleFence
from workflows.models import Credential, Stop
from workflows.models.stop import StopState, Target

STATUS: dict[type[MakegoodError], int] = {Denied: 403, NotFound: 404, StaleFence: 409}
OF = "stops"
FIELDS = ("target", "name", "why", "until", "people")


@screen
def stops(request: HttpRequest) -> HttpResponse:
    """`?target=&name=` fills the form in; `?after=` is the cursor of the history."""
    return page(request, filled={name: request.GET.get(name, "")[:301] for name in ("target", "name")})


@act
def freeze(request: HttpRequest) -> HttpResponse:
    form = {name: request.POST.get(name, "") for name in FIELDS}
    try:
        done = acts.freeze(
            at_desk(request),
            target=form["target"],
            name=form["name"] if form["target"] == Target.SUBJECT else form["name"].strip(),  # which may end in a blank
            why=form["why"],
            until=until_of(form["until"], rows.now()),
            second_person={"second": True, "one": False}.get(form["people"]),
        )
    except MakegoodError as error:
        return page(request, filled=form, error=error)
    tell(request, (QUIET if done.quiet else NOT_QUIET).given(on=terms.on(done.stop.target, done.stop.name)))
    return redirect("stops")


QUIET = _("Frozen: {on}. Nothing new is sent to it.")
NOT_QUIET = _("Frozen: {on}. A worker has not answered yet: calls that it was about to begin may still leave.")


@act
def lift(request: HttpRequest, stop_id: uuid.UUID) -> HttpResponse:
    try:
        glass = request.POST.get("glass") == "yes"
        proof.demand(request, at_desk(request), strong=glass or acts.holds_everything(stop_id))
        stop = acts.lift(at_desk(request), stop_id, why=request.POST.get("why", ""), glass=glass)
    except MakegoodError as error:
        return page(request, filled={}, error=error, of=stop_id, kept=request.POST.get("why", ""))
    tell(request, _("Lifted: {on}. What waited for it goes on.", on=terms.on(stop.target, stop.name)))
    return redirect("stops")


def page(
    request: HttpRequest,
    *,
    filled: dict[str, str],
    error: MakegoodError | None = None,
    of: uuid.UUID | None = None,
    kept: str = "",
) -> HttpResponse:
    """`error`: a refusal, with what was typed; `of`: the stop whose form it came from."""
    desk = at_desk(request)
    counts = frozen.waiting(desk)
    held = [frozen.Held(stop=stop, waiting=counts[str(stop.id)], **told(desk, stop)) for stop in frozen.in_force(desk)]
    start = keyset.read(request.GET.get("after", ""), of=OF)
    at, after = start or (timezone.now(), None)
    past = frozen.seen_by(desk).exclude(state=StopState.FROZEN.value)
    context: dict[str, Any] = {
        "held": held,
        "credentials": [(row, counts[row.name]) for row in Credential.objects.all()[: frozen.MOST]],
        "past": keyset.page(past, order=("-id",), of=OF, at=at, after=after),
        "targets": [(target.value, terms.TARGETS[target.value]) for target in Target],
        "filled": filled,
        "may_freeze": bool(desk.roles & acts.MAY_FREEZE),
        "error": error,
        "of": of,
        "kept": kept,
    }
    status = STATUS.get(type(error), 400 if isinstance(error, Invalid) else 200) if error else 200
    return show(request, "console/stops.html", here="stops", status=status, **context)


def told(desk: Desk, stop: Stop) -> dict[str, Any]:
    """Why this person can't lift it, and whether they could by breaking the glass."""
    no = acts.may_not_lift(desk, stop)
    glass = no == acts.FROZE_IT and desk.breaks
    return {"why_not": "" if glass else no, "glass": glass}
