"""The act that is always safe: read the authoritative state once more. Nothing is sent."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts.door import actor, enter, needs, stuck_effect
from repairs.acts.record import engine, record, refusal_kept
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from workflows.engine import people
from workflows.why import reason


def look_again(case_id: uuid.UUID, *, effect_id: uuid.UUID, by: User, why: str, fence: int, note: str = "") -> None:
    """Asks the engine to look again at a stuck effect. Raises the engine's refusals and the door's errors.

    `note`: of the preview that was shown; a look asked for in a list has none, as it sends nothing."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.LOOK_AGAIN, by=by, why=why, effect_id=effect_id):
        case, now = enter(case_id, by=by, fence=fence)
        effect = stuck_effect(case, effect_id)
        if note:
            preview.confirm(note, ActKind.LOOK_AGAIN, case, effect.id, by=by)
        with engine():
            people.look_again(effect.id, by=actor(by), why=why)
        record(case.id, kind=ActKind.LOOK_AGAIN, by=by, why=why, outcome=Outcome.ASKED, now=now, effect_id=effect.id)
