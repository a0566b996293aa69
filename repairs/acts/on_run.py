"""Acts that ask one verb of the engine about the run as a whole: it is cancelled, stopped where it is, or goes on."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts.door import actor, enter, needs
from repairs.acts.record import engine, record, refusal_kept
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from workflows.engine.cancel import cancel_by_person
from workflows.engine.resume import resume
from workflows.why import reason

VERBS: dict[ActKind, Callable[..., Any]] = {
    ActKind.CANCEL: functools.partial(cancel_by_person, then="compensate"),
    ActKind.HOLD: functools.partial(cancel_by_person, then="hold"),
    ActKind.RESUME: resume,
}


def ask(kind: ActKind, case_id: uuid.UUID, *, by: User, why: str, fence: int, note: str) -> None:
    """Asks the engine for it. `note`: of the preview that was shown. Raises the engine's refusals, the door's and the
    preview's."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=kind, by=by, why=why):
        case, now = enter(case_id, by=by, fence=fence)
        preview.confirm(note, kind, case, None, by=by)
        with engine():
            VERBS[kind](case.run_id, by=actor(by), why=why)
        record(case.id, kind=kind, by=by, why=why, outcome=Outcome.ASKED, now=now)
