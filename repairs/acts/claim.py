"""Who works on a case: a lease that runs out by itself, with a fence that makes a late holder's act powerless."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from repairs import cases, presence
from repairs.acts.door import LEASE, actor, held, lock, needs, renew
from repairs.acts.record import record
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from repairs.notices import telling
from repairs.roles import REPAIRER
from repairs.words.marked import _
from repairs.words.marks import mark
from workflows.errors import StaleFence
from workflows.why import reason


def claim(case_id: uuid.UUID, *, by: User, why: str = "", fence: int | None = None) -> None:
    """Takes or renews the claim. What somebody else holds is taken over only with a reason, and they are told.

    `fence`: as the page showed it; a reason to take it from one person is none to take it from the next.
    Raises `Denied`, `StaleFence` (held by somebody and no reason given, or closed), `Invalid`.
    """
    needs(by, REPAIRER)
    with transaction.atomic():
        case, now = lock(case_id)
        if not case.live:
            raise StaleFence(
                _(
                    "{name} is {state} by now; there is nothing to claim.",
                    name=case.name,
                    state=mark("case", case.state).word,
                )
            )
        holder = case.holder_at(now)
        if holder is None:
            take(case, by=by, now=now)
        elif holder == by.pk:
            renew(case, now)
        elif why.strip() and fence not in (None, case.fence):
            raise StaleFence(_("{held} It changed hands since you opened this page; read it again.", held=held(case)))
        elif why.strip():
            why, former = reason(why), held(case)
            act = take(case, by=by, now=now, kind=ActKind.TAKE_OVER, why=why, detail=former)
            presence.tell(case.id, user=holder, by=by, how="taken", now=now)
            telling.of_take_over(case, act.id)
        else:
            raise StaleFence(_("{held} Say why if you take it over.", held=held(case)))


def release(case_id: uuid.UUID, *, by: User) -> None:
    """Gives the claim back. Nothing happens where it is somebody else's or ran out."""
    with transaction.atomic():
        case, now = lock(case_id)
        if case.claimed_by_id != by.pk:
            return
        case.claimed_by = case.lease_until = case.handed_to = None
        case.save(update_fields=["claimed_by", "lease_until", "handed_to"])
        record(case.id, kind=ActKind.RELEASE, by=by, why="", outcome=Outcome.DONE, now=now)


def take(case: Case, *, by: User, now: dt.datetime, kind: ActKind = ActKind.CLAIM, why: str = "", **more: Any) -> Act:
    """Gives the locked case to `by`; a higher fence makes pages of former holders stale. What was set aside wakes, and
    what was being handed over isn't any more. `more`: further columns of the act."""
    if case.snoozed_until is not None:
        case.proceed(at=now)
        cases.write([], [case], now, actor(by))
    case.claimed_by, case.lease_until, case.handed_to = by, now + LEASE, None
    case.fence += 1
    case.save(update_fields=["claimed_by", "lease_until", "handed_to", "fence"])
    presence.known(case.id, by)
    return record(case.id, kind=kind, by=by, why=why, outcome=Outcome.DONE, now=now, **more)
