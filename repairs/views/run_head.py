"""What the pages of one run share: how the run is found, what stands above each, and whether it went on."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.http import quote_etag

from repairs import reading
from repairs.scope import one, visible
from repairs.views import live
from repairs.views.screen import at_desk, screen
from repairs.words.marked import _
from workflows.models import Effect, Run
from workflows.states import Phase

TABS = (
    ("plan", "run", _("Plan and effects")),
    ("time", "run-time", _("In time")),
    ("journal", "run-journal", _("Journal")),
)


def find(request: HttpRequest, run_id: uuid.UUID) -> Run:
    return one(visible(at_desk(request), Run).select_related("agent", "workflow"), id=run_id)


def head(run: Run, tab: str, *, moves: int | None = None) -> dict[str, Any]:
    """`moves`: of all its effects, where they were read with it."""
    tag = "" if over(run) else tag_of(run, moves)
    return {"run": run, "subject": reading.subject_of(run), "tabs": TABS, "tab": tab, "tag": tag}


@screen
def news(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Whether the run or an effect of it moved since the page was made."""
    run = one(visible(at_desk(request), Run).only("seq", "phase"), id=run_id)
    said = render_to_string("console/_news.html", {"of": "run"})
    return live.part(request, said, tag=tag_of(run), last=over(run))


def over(run: Run) -> bool:
    return str(run.phase) == Phase.OVER


def tag_of(run: Run, moves: int | None = None) -> str:
    if moves is None:
        moves = Effect.objects.filter(run=run).aggregate(all=Sum("seq"))["all"] or 0
    return quote_etag(f"{run.seq}.{moves}")
