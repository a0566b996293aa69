"""Opening a closed case again because a person knows that something is still wrong, and closing it after that."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from repairs.acts.claim import take
from repairs.acts.door import actor, enter, lock, needs
from repairs.acts.record import engine, record, refusal_kept
from repairs.models import Case
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from repairs.words.marked import _
from workflows.engine import reopen as runs
from workflows.errors import StaleFence
from workflows.why import reason


def reopen(case_id: uuid.UUID, *, by: User, why: str) -> None:
    """The case is live, and theirs. Raises `Denied`, `StaleFence` (it is open by now), `Invalid`."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.REOPEN, by=by, why=why):
        case, now = lock(case_id)
        if case.live:
            raise StaleFence(_("{name} is open by now; read what it says.", name=case.name))
        with engine():
            runs.reopen(case.run_id, by=actor(by), why=why)
        record(case.id, kind=ActKind.REOPEN, by=by, why=why, outcome=Outcome.DONE, now=now)
        take(Case.objects.get(id=case.id), by=by, now=now)


def close(case_id: uuid.UUID, *, by: User, why: str, fence: int) -> None:
    """What a person opened a person closes, once nothing else of the run needs anybody."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.CLOSE, by=by, why=why):
        case, now = enter(case_id, by=by, fence=fence)
        with engine():
            runs.settle(case.run_id, by=actor(by), why=why)
        record(case.id, kind=ActKind.CLOSE, by=by, why=why, outcome=Outcome.DONE, now=now)
