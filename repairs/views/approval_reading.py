"""What an approval's page says while its target is to be read: that it is being read, or that nobody has taken it."""

from __future__ import annotations

import datetime as dt
import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from repairs.scope import visible
from repairs.views import live
from repairs.views.screen import at_desk, screen
from workflows import queue
from workflows.models import Approval
from workflows.models.approval import ApprovalState

SOON = dt.timedelta(seconds=queue.BEATS_WITHIN)  # a read that nobody took by then waits for a worker


@screen
def read_state(request: HttpRequest, approval_id: uuid.UUID) -> HttpResponse:
    """Nothing new while a read of the target is under way; then the page is loaded anew."""
    row = visible(at_desk(request), Approval).filter(id=approval_id).values("state", "read_due").first()
    if row is None:
        raise Http404("There is no such approval.")
    if row["state"] == ApprovalState.ASKED and row["read_due"] is not None:
        return live.part(request, words(approval_id, row["read_due"], timezone.now()))
    return live.anew(request, reverse("approval", args=[approval_id]))


def words(approval_id: uuid.UUID, due: dt.datetime, now: dt.datetime, *, whole: bool = True) -> str:
    """`due`: until when a worker that took it is at it, else since when it is to be read. `whole`: also why nobody has,
    for one query; a page, which has enough of them, asks for that right after it came."""
    untaken = due < now - SOON
    context = {"id": approval_id, "untaken": untaken, "deaf": whole and untaken and queue.deaf()}
    return render_to_string("console/_approval_reading.html", context)
