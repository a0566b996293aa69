"""The repair queue: open cases, most harmful first, each with the sentence that says why it stands there."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from repairs import keyset, reading, worklist
from repairs.models import Case
from repairs.scope import visible
from repairs.views.screen import at_desk, screen, show

CLOSED = "closed"


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A line of the queue. `holder` is "" where nobody's claim is alive."""

    case: Case
    why: str
    subject: str
    holder: str
    late: bool


@screen
def queue(request: HttpRequest) -> HttpResponse:
    """`?view=` picks the rows, `?after=` is the cursor: the order stays as it was when the first page was made."""
    desk = at_desk(request)
    me, cases = desk.user.pk, visible(desk, Case)
    name = request.GET.get("view", "all")
    view = worklist.view_of(name)
    if view is None and name != CLOSED:
        raise Http404("There is no such view of the queue.")
    of = f"queue:{name}:{me if name == 'mine' else ''}"
    start = keyset.read(request.GET.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    found: Any = worklist.harm_first(cases, at).filter(view.chosen(at, me)) if view else worklist.closed(cases)
    order: Sequence[str] = worklist.ORDER if view else ("-number",)
    page = keyset.page(found.select_related("run", "claimed_by"), order=order, of=of, at=at, after=after)
    now = timezone.now()
    return show(
        request,
        "console/queue.html",
        here="queue",
        now=now,
        page=page,
        rows=rows_of(page.rows, at),
        view=view,
        name=name,
        counts=worklist.counts(cases, now, me),
        views=worklist.VIEWS,
    )


def rows_of(cases: Sequence[Case], at: dt.datetime) -> list[Row]:
    now = timezone.now()
    return [
        Row(
            case=case,
            why=worklist.why_here(case, at),
            subject=reading.subject_of(case.run),
            holder=holder_of(case, now),
            late=case.live and case.deadline < now,
        )
        for case in cases
    ]


def holder_of(case: Case, now: dt.datetime) -> str:
    return case.claimed_by.get_username() if case.claimed_by and case.holder_at(now) else ""
