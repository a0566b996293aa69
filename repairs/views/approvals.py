"""Approvals as lists: what waits for a person's word, what was decided, and what is done on one's own behalf."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from repairs import asked, keyset, reading, remarks
from repairs.models import Remark
from repairs.models.remark import RemarkKind
from repairs.views.approval import told, votes_of
from repairs.views.screen import at_desk, screen, show
from repairs.words import traits, verdicts
from repairs.words.marked import _
from workflows.models import Approval, ApprovalVote
from workflows.models.approval import ApprovalState

VIEWS = {"decide": _("To decide"), "decided": _("Decided"), "mine": _("My requests")}
EMPTY = {
    "decide": _("No act waits for an approval. What policy asks about appears here by itself."),
    "decided": _("Nothing was decided yet."),
    "mine": _("Nothing that is done on your behalf was asked about."),
}
ORDERS: dict[str, tuple[str, ...]] = {"decide": ("expires_at", "id"), "decided": ("-id",), "mine": ("-id",)}


@screen
def approvals_list(request: HttpRequest) -> HttpResponse:
    """`?view=decide|decided|mine`; what runs out first stands first. There is nothing to select: each is opened."""
    name = request.GET.get("view", "decide")
    if name not in VIEWS:
        raise Http404("There is no such view.")
    desk, of = at_desk(request), f"approvals:{name}"
    start = keyset.read(request.GET.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    rows = {
        "decide": lambda: asked.to_decide(desk, at),
        "decided": lambda: asked.decided(desk, at),
        "mine": lambda: asked.requested_by(desk),
    }[name]()
    page = keyset.page(asked.light(rows), order=ORDERS[name], of=of, at=at, after=after)
    votes, said = votes_of(page.rows), remarks.of(page.rows)
    return show(
        request,
        "console/approvals.html",
        here="approvals",
        name=name,
        views=VIEWS,
        empty=EMPTY[name],
        page=page,
        rows=[row_of(one, votes.get(one.id, []), said.get(one.id, []), at) for one in page.rows],
    )


def row_of(
    approval: Approval, votes: Sequence[ApprovalVote], said: Sequence[Remark], at: dt.datetime
) -> dict[str, Any]:
    ran_out = approval.state == ApprovalState.ASKED and approval.expires_at <= at
    state = ApprovalState.EXPIRED.value if ran_out else approval.state
    return {
        "approval": approval,
        "state": state,
        "subject": reading.subject_of(approval.run),
        "what": traits.class_words(approval.effect_class),
        "asks": verdicts.asked_of(approval.approvers),
        "ended": verdicts.ending(state, approval.void_reason, approval.detail),
        "outcome": verdicts.outcome(approval.effect, approval.effect.first_sent_at),
        "votes": [told(vote) for vote in votes],
        "open_question": state == ApprovalState.ASKED and remarks.unanswered(said),
        "left": ", ".join(one.by.get_username() for one in said if one.kind == RemarkKind.NOT_MINE),
        "yes": sum(vote.verdict == "approve" for vote in votes),
    }
