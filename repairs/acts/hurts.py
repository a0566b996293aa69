"""By when it hurts the customer, which no tool knows: they stand at an airport, their payroll runs tonight."""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User
from django.db import transaction

from repairs import cases
from repairs.acts.door import lock, needs, renew
from repairs.acts.record import record
from repairs.models import Case
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from workflows.authority.until import until_of
from workflows.errors import Flaw, Invalid, StaleFence
from workflows.models import Run
from workflows.why import reason

LONGEST = dt.timedelta(days=90)  # what hurts later than in a season has time to be said anew


def hurts(case_id: uuid.UUID, *, by: User, at: str, why: str) -> None:
    """The moment is a cut-off from now on, and orders the queue. `at`: as people say it, 2h or a moment; "" takes back.

    Takes no claim: whoever hears it from the customer says it. Raises `Denied`, `Invalid`, `NotFound`, `StaleFence`."""
    needs(by, REPAIRER)
    why = reason(why)
    with transaction.atomic():
        case, now = lock(case_id)
        if not case.live:
            raise StaleFence(f"{case.name} is {case.state.replace('_', ' ')} by now; nothing needs to be in time.")
        moment = ahead(at, now)
        if moment is None and case.hurts_at is None:
            raise Invalid(
                "Say by when it hurts the customer.", [Flaw("at", at, "is empty; 2h say, or 2026-12-01T06:00Z")]
            )
        said = f"from {moment:%Y-%m-%d %H:%M} UTC on" if moment else "no moment any more"
        known = {"detail": said, "facts": {"at": moment.isoformat() if moment else None}}
        record(case.id, kind=ActKind.HURTS, by=by, why=why, outcome=Outcome.DONE, now=now, **known)
        case = Case.objects.get(id=case.id)
        case.hurts_at = moment
        case.save(update_fields=["hurts_at"])
        if case.holder_at(now) == by.pk:
            renew(case, now)
        cases.follow([Run.objects.select_related("workflow").get(id=case.run_id)])


def ahead(text: str, now: dt.datetime) -> dt.datetime | None:
    moment = until_of(text, now)
    if moment is None:
        return None
    if moment <= now:
        raise Invalid("That time is over already.", [Flaw("at", text, f"must be after {now:%Y-%m-%d %H:%M} UTC")])
    if moment > now + LONGEST:
        raise Invalid("That is too far away.", [Flaw("at", text, f"must be within {LONGEST.days} days")])
    return moment
