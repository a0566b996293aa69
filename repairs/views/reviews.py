"""Broken glasses: what one person did alone that takes two, until another has said whether it was right."""

from __future__ import annotations

import datetime as dt
import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from repairs import glasses, keyset
from repairs.acts import glass as acts
from repairs.desk import Desk
from repairs.models import Glass
from repairs.models.glass import Verdict
from repairs.scope import visible
from repairs.views.acts import STATUS, why
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words.marked import _
from repairs.words.refusals import refusal
from workflows.errors import MakegoodError

OF = "reviews"
MOST = 100  # that wait; more is no list but an outage of its own
WINDOW = dt.timedelta(days=30)


@screen
def reviews(request: HttpRequest) -> HttpResponse:
    """What waits, the nearest first; `?after=` is the cursor of what was reviewed."""
    return page(request)


@act
def review(request: HttpRequest, glass_id: uuid.UUID) -> HttpResponse:
    """The button pressed says whether it was right."""
    try:
        found = acts.review(at_desk(request), glass_id, verdict=request.POST.get("how", ""), words=why(request))
    except MakegoodError as error:
        return page(request, status=STATUS.get(type(error), 400), error=refusal(error), of=glass_id, kept=why(request))
    right = found.verdict == Verdict.RIGHT
    tell(request, _("Kept: it was right.") if right else _("Kept: it was wrong."))
    return redirect("reviews")


def page(
    request: HttpRequest, *, status: int = 200, error: str = "", of: uuid.UUID | None = None, kept: str = ""
) -> HttpResponse:
    desk, now = at_desk(request), timezone.now()
    start = keyset.read(request.GET.get("after", ""), of=OF)
    at, after = start or (now, None)
    past = visible(desk, Glass).exclude(reviewed_at=None).select_related("by", "reviewed_by")
    waits = glasses.waiting(desk).select_related("by").order_by("due_at", "id")[:MOST]
    return show(
        request,
        "console/reviews.html",
        here="reports",
        status=status,
        now=now,
        waits=[row_of(desk, one, now) for one in waits],
        past=keyset.page(past, order=("-id",), of=OF, at=at, after=after),
        told=glasses.figures(desk, now - WINDOW, now),
        error=error,
        of=of,
        kept=kept,
    )


def row_of(desk: Desk, one: Glass, now: dt.datetime) -> dict[str, object]:
    return {
        "glass": one,
        "late": one.late(now),
        "place": glasses.place(one.what, one.subject),
        "why_not": acts.may_not_review(desk, one),
    }
