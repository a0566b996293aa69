"""Setting a case aside until a time, and waking it: by a person, by the sweep when the time comes, or by a change."""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User
from django.db import transaction

from repairs import cases
from repairs.acts.door import actor, enter, lock, needs
from repairs.acts.record import record
from repairs.models import Case
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from repairs.words import clock
from repairs.words.marked import _
from repairs.words.resting import CAUSES, STILL
from workflows import rows
from workflows.authority.until import until_of
from workflows.errors import Flaw, Invalid, StaleFence
from workflows.models import Run
from workflows.states import CaseState
from workflows.why import reason

LONGEST = dt.timedelta(days=14)  # who needs longer than two weeks looks at it in between
MOST = 500  # cases a minute that the sweep wakes; the next one takes the next ones


def snooze(case_id: uuid.UUID, *, by: User, why: str, cause: str, until: str, fence: int) -> None:
    """The case is in nobody's hands until then; its deadline stays, unless it waits for the customer.

    `until`: as people say it, 2h or a moment.

    Raises `Invalid`, `Denied`, `StaleFence`."""
    needs(by, REPAIRER)
    why = reason(why)
    cause_of(cause)
    with transaction.atomic():
        case, now = enter(case_id, by=by, fence=fence)
        end = moment(case, until, now)
        if case.state == CaseState.WAITING:
            raise StaleFence(
                _("{name} waits for a second person's answer; it can't be set aside before that.", name=case.name)
            )
        if case.handed_to_id is not None:
            raise StaleFence(_("{name} is being handed over; withdraw that before you set it aside.", name=case.name))
        known = {"detail": f"until {end:%Y-%m-%d %H:%M} UTC: {CAUSES[cause]}", "facts": {"cause": cause, "until": end}}
        record(case.id, kind=ActKind.SNOOZE, by=by, why=why, outcome=Outcome.DONE, now=now, **known)
        case = Case.objects.get(id=case.id)
        case.wait()
        case.snoozed_until, case.snooze_cause = end, cause
        case.paused_since = now if cause in STILL else None
        case.claimed_by = case.lease_until = None
        cases.write([], [case], now, actor(by))


def cause_of(cause: str) -> str:
    """What it waits for. Raises `Invalid` for what isn't on the list."""
    if cause not in CAUSES:
        raise Invalid(
            _("Choose from the list what it waits for."),
            [Flaw("cause", cause, _("none of {causes}", causes=", ".join(CAUSES)))],
        )
    return cause


def moment(case: Case, text: str, now: dt.datetime) -> dt.datetime:
    """When it wakes. Raises `Invalid` as `end_of`, and for a time at which it is too late."""
    end = end_of(text, now)
    if case.cutoff and now < case.cutoff <= end:
        at = clock.said(case.cutoff)
        raise Invalid(
            _("By then it is too late: the cut-off is at {at}.", at=at),
            [Flaw("until", text, _("must be before {at}", at=at))],
        )
    return end


def end_of(text: str, now: dt.datetime) -> dt.datetime:
    """Raises `Invalid` for no time, and one that is over or too far."""
    end = until_of(text, now)
    if end is None:
        raise Invalid(_("Say until when."), [Flaw("until", text, _("is empty; 2h say, or 2026-12-01T06:00Z"))])
    if end <= now:
        raise Invalid(
            _("That time is over already."), [Flaw("until", text, _("must be after {now}", now=clock.said(now)))]
        )
    if end > now + LONGEST:
        raise Invalid(
            _("That is too far away."), [Flaw("until", text, _("must be within {days} days", days=LONGEST.days))]
        )
    return end


def wake(case_id: uuid.UUID, *, by: User, why: str = "") -> None:
    """Before its time, by a person. Nothing happens where it is awake already."""
    needs(by, REPAIRER)
    with transaction.atomic():
        case, now = lock(case_id)
        if case.snoozed_until is not None:
            record(case.id, kind=ActKind.WAKE, by=by, why=why.strip() and reason(why), outcome=Outcome.DONE, now=now)
            case = Case.objects.get(id=case.id)
            case.proceed(at=now)
            cases.write([], [case], now, actor(by))


def wake_due() -> int:
    """Those whose time has come; how many. Called by the sweep, each minute."""
    now = rows.now()
    due = Case.objects.filter(snoozed_until__lte=now)
    found = dict(due.order_by("snoozed_until").values_list("id", "run_id")[:MOST])
    if not found:
        return 0
    with transaction.atomic():
        list(Run.objects.filter(id__in=found.values()).order_by("id").select_for_update().values_list("id"))
        woken = list(due.filter(id__in=found).order_by("id").select_for_update())
        for case in woken:
            case.proceed(at=now)
        cases.write([], woken, now)
    return len(woken)
