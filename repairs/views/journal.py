"""The journal: everything that moved, the newest first, as the engine and people wrote it; of one thing where asked."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from repairs import keyset
from repairs.desk import Desk
from repairs.scope import listed, visible
from repairs.views.run_journal import line, names_of, worded
from repairs.views.screen import at_desk, screen, show
from workflows.models import Checkpoint, Entry


@screen
def journal_page(request: HttpRequest) -> HttpResponse:
    """`?of=` the id of a run, with all that is in it, or of any other thing; `?after=` is the cursor."""
    asked = request.GET.get("of", "").strip()
    of = f"journal:{asked}"
    start = keyset.read(request.GET.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    found = entries_of(at_desk(request), asked)
    page = keyset.page(worded(found), order=("-id",), of=of, at=at, after=after)
    names = names_of(page.rows)
    return show(
        request,
        "console/journal.html",
        here="journal",
        asked=asked,
        page=page,
        lines=[line(entry, names) for entry in page.rows],
        checkpoint=Checkpoint.objects.order_by("-id").first(),
    )


def entries_of(desk: Desk, asked: str) -> QuerySet[Entry, Any]:
    if not asked:
        return listed(desk, Entry)
    try:
        wanted = uuid.UUID(asked)
    except ValueError as error:
        raise Http404("Nothing has such an id.") from error
    return visible(desk, Entry).filter(Q(run_id=wanted) | Q(subject_id=wanted))
