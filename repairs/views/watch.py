"""How people decide about approvals: for who answers for them. Shows figures, and judges nobody."""

from __future__ import annotations

import datetime as dt

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from repairs.scope import visible
from repairs.views.approvals import VIEWS
from repairs.views.screen import at_desk, screen, show
from repairs.words.marked import _
from repairs.words.watch import FEW, GLANCE, Said, looked, watch
from workflows.models import ApprovalVote

WINDOW = dt.timedelta(days=30)  # long enough for a habit to show, short enough to be changed
MOST = 10_000  # of the latest votes; no page counts further


@screen
def watch_page(request: HttpRequest) -> HttpResponse:
    if not at_desk(request).watches:
        raise PermissionDenied(_("This takes the role manager, auditor or admin."))
    since = timezone.now() - WINDOW
    votes = visible(at_desk(request), ApprovalVote).order_by("-id")
    found = list(votes.values_list("by__username", "verdict", "opened_at", "at")[:MOST])
    within = [Said(who, verdict == "approve", looked(opened, at)) for who, verdict, opened, at in found if at >= since]
    return show(
        request,
        "console/watch.html",
        here="approvals",
        name="watch",
        views=VIEWS,
        lines=watch(within),
        all=len(within),
        since=since,
        cut=len(found) == MOST,
        few=FEW,
        glance=GLANCE,
    )
