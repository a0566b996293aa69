"""A person's own time that no page could measure, or that was measured wrongly: minutes more or less, with a reason."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DurationField, F, Sum

from repairs.acts.door import lock, needs
from repairs.acts.note import write
from repairs.models import Act, Worked
from repairs.models.act import ActKind
from repairs.roles import REPAIRER
from repairs.words.marked import _
from workflows.errors import Flaw, Invalid
from workflows.why import reason

MOST = 24 * 60  # minutes: nobody works longer on a case without looking at it once


def correct_time(case_id: uuid.UUID, *, by: User, minutes: str, why: str) -> None:
    """`minutes`: as typed, "20" or "-5". Raises `Denied`, `Invalid`, `NotFound`."""
    needs(by, REPAIRER)
    why = reason(why)
    more = _whole(minutes)
    with transaction.atomic():
        lock(case_id)
        left = _of(case_id, by) + more
        if left < 0:
            flaw = Flaw("minutes", minutes, _("would leave {left} min of your time on this case", left=left))
            raise Invalid(_("Nobody works for less than no time."), [flaw])
        write(case_id, ActKind.CORRECT_TIME, by, why, facts={"minutes": more}, detail=f"{more:+d} min")


def _whole(minutes: str) -> int:
    text = minutes.strip()
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 4) or not 0 < int(digits) <= MOST:
        raise Invalid(
            _("Say how many minutes."),
            [Flaw("minutes", minutes[:20], _("needs 1 to {most}, or -1 to -{most}", most=MOST))],
        )
    return int(text)


def _of(case_id: uuid.UUID, by: User) -> int:
    """This person's minutes on the case, measured and corrected."""
    mine = Worked.objects.filter(case=case_id, user=by)
    spent = mine.aggregate(spent=Sum(F("until") - F("began"), output_field=DurationField()))["spent"]
    acts = Act.objects.filter(case=case_id, by=by, kind=ActKind.CORRECT_TIME.value)
    return round(spent.total_seconds() / 60 if spent else 0) + sum(int(act.facts["minutes"]) for act in acts)
