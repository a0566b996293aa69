"""Breaking the glass: one person alone does what takes two, at once; another reviews it within a day.

1. Who may is said before: the role emergency, beside the roles that let them do either part of the act.
2. The act itself and the row that wants a review are one commit, and who answers for such things is told.
3. Another person says whether it was right. Nothing is undone by that; it is counted, and both stay in the journal.
"""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404

from repairs.acts.door import actor
from repairs.desk import Desk, desk_for
from repairs.models.glass import Broken, Glass, Verdict
from repairs.notices import telling
from repairs.scope import visible
from repairs.words.marked import _
from workflows import journal, rows
from workflows.errors import Denied, Flaw, Invalid, StaleFence
from workflows.why import reason

MAY_NOT = _("An approver, a manager or an operator reviews it.")
UNSAID = _("Say whether it was right; nothing was kept.")
REVIEWED_WITHIN = dt.timedelta(hours=24)  # who was woken by it has slept, and nobody has forgotten yet


def may(by: User) -> None:
    """Raises `Denied` where this person may not break it now, whatever the page showed them."""
    if not desk_for(by).breaks:
        raise Denied(
            _("{login} is not in the role emergency; another person must do their part.", login=by.get_username())
        )


def broke(what: Broken, subject: uuid.UUID, said: str, *, by: User, why: str, team: str = "") -> Glass:
    """Keeps that it happened, in the transaction of the act."""
    now = rows.now()
    made = Glass(
        what=what.value, subject=subject, said=said[:400], by=by, why=why, team=team, at=now,
        due_at=now + REVIEWED_WITHIN,
    )  # fmt: skip
    _keep(made, "break", by=by, payload={"what": what.value, "subject": str(subject), "why": why})
    telling.of_glass(made)
    return made


def review(desk: Desk, glass_id: uuid.UUID, *, verdict: str, words: str) -> Glass:
    """Another person's word on it. Raises `Denied`, `Invalid`, `StaleFence`, `Http404`."""
    if not desk.reviews:
        raise Denied(MAY_NOT)
    with transaction.atomic():
        found = visible(desk, Glass).filter(id=glass_id).select_for_update(no_key=True, of=("self",)).first()
        if found is None:
            raise Http404("There is no such thing.")
        if no := may_not_review(desk, found):
            raise Denied(no)
        words = reason(words)
        if verdict not in Verdict.values:
            raise Invalid(UNSAID, [Flaw("how", verdict, _("is neither right nor wrong"))])
        if found.reviewed_at is not None:
            raise StaleFence(_("This was reviewed already."))
        found.reviewed_by, found.reviewed_at = desk.user, rows.now()
        found.verdict, found.words = verdict, words
        _keep(found, "review", by=desk.user, payload={"verdict": verdict, "why": words})
    return found


def may_not_review(desk: Desk, found: Glass) -> str:
    """Why this person can't; "" where they can."""
    if not desk.reviews:
        return MAY_NOT
    if found.by_id == desk.user.pk:
        return _("You did it; another person reviews it.")
    return ""


def _keep(glass: Glass, event: str, *, by: User, payload: dict[str, str]) -> None:
    """Saves it with an entry in its own chain of the journal."""
    made = journal.chain(
        [
            journal.Event(
                subject=glass,
                kind="glass",
                run_id=None,
                event=event,
                after=glass.verdict,
                actor=actor(by),
                payload=payload,
            )
        ],
        at=rows.now(),
    )
    glass.save()
    journal.write(made)
