"""A run's journal: its first entries and its last, and page by page what lies between. No page of it is long."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from repairs import keyset
from repairs.counting import counts
from repairs.views.run_head import find, head
from repairs.views.screen import screen, show
from workflows.models import Effect, Entry, Payload, Run

FIRST, LAST = 200, 50  # entries shown at once, and of the end
ORDER = ("id",)  # ids are made in the order of time


@dataclasses.dataclass(frozen=True, slots=True)
class Journal:
    """`between`: how many entries lie between `lines` and `tail`, as far as anybody counts; `next` leads to them."""

    lines: list[dict[str, Any]]
    tail: list[dict[str, Any]]
    between: int
    next: str
    first: bool


@screen
def journal_page(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """`?after=` goes on where a page ended."""
    run = find(request, run_id)
    journal = journal_of(run, request.GET.get("after", ""))
    return show(request, "console/run_journal.html", here="runs", **head(run, "journal"), journal=journal)


def journal_of(run: Run, cursor: str) -> Journal:
    entries, of = Entry.objects.filter(run_id=run.id), f"run-journal:{run.id}"
    start = keyset.read(cursor, of=of)
    at, after = start or (timezone.now(), None)
    page = keyset.page(worded(entries), order=ORDER, of=of, at=at, after=after, size=FIRST)
    rest = entries.filter(id__gt=page.rows[-1].id) if page.next else entries.none()
    tail = list(worded(rest).order_by("-id")[:LAST])[::-1] if page.next else []
    between = counts(rest)[0] - len(tail) if page.next else 0
    names = names_of([*page.rows, *tail])
    return Journal(
        lines=[line(entry, names) for entry in page.rows],
        tail=[line(entry, names) for entry in tail],
        between=between,
        next=page.next if between else "",
        first=page.first,
    )


def worded(entries: QuerySet[Entry]) -> QuerySet[Entry, Any]:
    """With the words of each, where they weren't erased."""
    return entries.annotate(data=Subquery(Payload.objects.filter(entry_id=OuterRef("id")).values("data")))


def names_of(entries: list[Any]) -> dict[uuid.UUID, tuple[str, bool]]:
    """Of the effects among their subjects: the step, and whether it is an undoing."""
    ids = {entry.subject_id for entry in entries if entry.subject_kind == "effect"}
    found = Effect.objects.filter(id__in=ids).values_list("id", "step__name", "compensates_id")
    return {key: (step, undoes is not None) for key, step, undoes in found}


def line(entry: Any, names: dict[uuid.UUID, tuple[str, bool]]) -> dict[str, Any]:
    step, undoing = names.get(entry.subject_id, ("", False))
    return {"entry": entry, "data": entry.data, "step": step, "undoing": undoing}
