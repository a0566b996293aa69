"""The decision about a run that is held: what stands is undone after all, in order and under policy."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts.door import actor, enter, needs
from repairs.acts.record import engine, record, refusal_kept
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from workflows.engine import people
from workflows.why import reason


def turn_back(case_id: uuid.UUID, *, by: User, why: str, fence: int, note: str) -> None:
    """Asks the engine to compensate what stands of the case's run; irreversible acts are accepted as residue.

    `note`: of the preview that was shown."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.TURN_BACK, by=by, why=why):
        case, now = enter(case_id, by=by, fence=fence)
        preview.confirm(note, ActKind.TURN_BACK, case, None, by=by)
        with engine():
            people.compensate_run(case.run_id, by=actor(by), why=why)
        record(case.id, kind=ActKind.TURN_BACK, by=by, why=why, outcome=Outcome.ASKED, now=now)
