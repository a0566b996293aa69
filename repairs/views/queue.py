"""The repair queue: open cases, most harmful first, each with the sentence that says why it stands there."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from repairs import choice as choices
from repairs import keyset, reading, worklist
from repairs.bulk import seen
from repairs.bulk.choosing import MOST
from repairs.models import Case, SavedView
from repairs.models.batch import BatchAct
from repairs.scope import visible
from repairs.views import live
from repairs.views.screen import at_desk, screen, show
from repairs.words.batch import NAMES
from repairs.words.marked import _

CLOSED = "closed"


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A line of the queue. `holder` is "" where nobody's claim is alive; `similar`: open cases of the same cause."""

    case: Case
    why: str
    subject: str
    holder: str
    late: bool
    due: dt.datetime
    similar: int = 0


@screen
def queue(request: HttpRequest) -> HttpResponse:
    """`?view=` picks the rows, the names of `repairs.choice` narrow them, `?after=` is the cursor: the order stays as
    it was when the first page was made."""
    return show_queue(request, request.GET)


def show_queue(
    request: HttpRequest,
    data: QueryDict,
    *,
    status: int = 200,
    error: str = "",
    ticked: Collection[str] = (),
    typed: str = "",
) -> HttpResponse:
    """`error`, `ticked` and `typed` (a view's name) come from a form that was refused: nothing entered is lost."""
    desk = at_desk(request)
    me, cases = desk.user.pk, visible(desk, Case)
    name, view = view_asked(data)
    choice = choices.read(data)
    of = f"queue:{name}:{me if name in ('mine', 'handed') else ''}:{choice.query()}"
    start = keyset.read(data.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    rows, order = chosen(request, data, at)
    page = keyset.page(rows, order=order, of=of, at=at, after=after)
    now = timezone.now()
    counts = worklist.counts(cases, now, me, choice)
    return show(
        request,
        "console/queue.html",
        here="queue",
        status=status,
        now=now,
        error=error,
        page=page,
        rows=rows_of(page.rows, at, worklist.similar(cases, (case.signature for case in page.rows))),
        view=view,
        name=name,
        choice=choice,
        kept=choice.query(),
        counts=counts,
        views=worklist.VIEWS,
        harms=choices.HARMS,
        acts=[(act.value, NAMES[act.value][0]) for act in BatchAct] if view and desk.may_repair else [],
        ticked=ticked,
        typed=typed,
        saved=list(SavedView.objects.filter(user=desk.user)),
        all_of_them=counts[name] if view and (choice.narrowed() or name == "mine") else 0,
        most=MOST,
        batches_asked=[(batch, NAMES[batch.act][0]) for batch in seen.asked(desk)],
        tag=live.tag_of(render_to_string(NEWS, {"number": 0})),
    )


def chosen(request: HttpRequest, data: QueryDict, at: dt.datetime) -> tuple[Any, Sequence[str]]:
    """The rows of a view, narrowed, with the order they stand in at that moment."""
    desk = at_desk(request)
    _, view = view_asked(data)
    cases = visible(desk, Case)
    found: Any = (
        worklist.harm_first(cases, at).filter(view.chosen(at, desk.user.pk)) if view else worklist.closed(cases)
    )
    order: Sequence[str] = worklist.ORDER if view else ("-number",)
    rows = found.filter(choices.read(data).q()).select_related("run", "claimed_by", "handed_to").defer(*HEAVY)
    return rows, order


NEWS = "console/_queue_news.html"
HEAVY = ("run__input", "run__residue", "run__people_reasons", "run__narrowed", "found_by")


@screen
def news(request: HttpRequest) -> HttpResponse:
    """How many cases came since the moment `at` of the page that asks."""
    desk, choice = at_desk(request), choices.read(request.GET)
    name, view = view_asked(request.GET)
    try:
        at = dt.datetime.fromisoformat(request.GET.get("at", ""))
        at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    except ValueError as error:
        raise SuspiciousOperation(_("The moment of the page can't be read.")) from error
    number = worklist.newer(visible(desk, Case), view, choice, at, desk.user.pk) if view else 0
    anew = f"{reverse('queue')}?{urlencode({'view': name, **choice.kept()})}"
    return live.part(request, render_to_string(NEWS, {"number": number, "anew": anew}))


def view_asked(data: QueryDict) -> tuple[str, worklist.View | None]:
    name = data.get("view", "all")
    view = worklist.view_of(name)
    if view is None and name != CLOSED:
        raise Http404(_("There is no such view of the queue."))
    return name, view


def rows_of(cases: Sequence[Case], at: dt.datetime, similar: Mapping[str, int] | None = None) -> list[Row]:
    now = timezone.now()
    return [
        Row(
            case=case,
            why=worklist.why_here(case, at),
            subject=reading.subject_of(case.run),
            holder=holder_of(case, now),
            late=case.live and case.due_at(now) < now,
            due=case.due_at(now),
            similar=(similar or {}).get(case.signature, 0),
        )
        for case in cases
    ]


def holder_of(case: Case, now: dt.datetime) -> str:
    return case.claimed_by.get_username() if case.claimed_by and case.holder_at(now) else ""
