"""Making good: a person asks for a new act with a declared tool, or calls one off that has not left.

A case that is closed can be made good too: its run opens for that, and so does the case.
"""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts.door import OTHER_HANDS, actor, enter, lock, needs, stuck_effect
from repairs.acts.record import engine, record, refusal_kept
from repairs.models import Case
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from workflows.engine import remedy as remedies
from workflows.engine.remedy import RemedyBody
from workflows.errors import StaleFence
from workflows.why import reason


def make_good(case_id: uuid.UUID, body: RemedyBody, *, by: User, why: str, fence: int, note: str) -> None:
    """Asks the engine for it. `note`: of the preview that the person was shown; anything else isn't sent. The same form
    sent twice asks once. Raises the engine's refusals and the door's."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.REMEDY, by=by, why=why):
        case, now = _enter(case_id, by=by, fence=fence)
        if body.makes_good is not None:
            stuck_effect(case, body.makes_good)
        if remedies.asked(case.run_id, body) is not None:
            return
        digest, at = preview.read(note, preview.REMEDY, case.id, body.makes_good, by)
        with engine():
            made = remedies.plan(case.run_id, body)
        if shown(case, body, made, at).digest != digest:
            raise StaleFence(preview.CHANGED)
        with engine():
            effect, _ = remedies.remedy(case.run_id, body, by=actor(by), why=why)
        facts = {"step": effect.step.name, "tool": str(effect.tool), "digest": effect.digest}
        facts |= {"makes_good": str(body.makes_good)} if body.makes_good else {}
        of = {"effect_id": effect.id, "facts": facts}
        record(case.id, kind=ActKind.REMEDY, by=by, why=why, outcome=Outcome.ASKED, now=now, **of)


def shown(case: Case, body: RemedyBody, made: remedies.Plan, at: dt.datetime) -> preview.Preview:
    """What the person is shown of it."""
    return preview.of(made.effect, preview.facts_of(case.run_id), at, kind=preview.REMEDY, about=body.makes_good)


def call_off(case_id: uuid.UUID, *, effect_id: uuid.UUID, by: User, why: str, fence: int, note: str) -> None:
    """A remedy that has not left doesn't leave any more. Raises the engine's refusals, the door's and the preview's."""
    needs(by, REPAIRER)
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.CALL_OFF, by=by, why=why, effect_id=effect_id):
        case, now = enter(case_id, by=by, fence=fence)
        effect = stuck_effect(case, effect_id)
        if remedies.may_call_off(effect):  # else the engine says why not
            preview.confirm(note, ActKind.CALL_OFF, case, effect.id, by=by)
        with engine():
            remedies.call_off(effect.id, by=actor(by), why=why)
        record(case.id, kind=ActKind.CALL_OFF, by=by, why=why, outcome=Outcome.DONE, now=now, effect_id=effect.id)


def _enter(case_id: uuid.UUID, *, by: User, fence: int) -> tuple[Case, dt.datetime]:
    """A live case is claimed as by every act. A closed one is in nobody's hands; it must be as the page showed it."""
    case, now = lock(case_id)
    if case.live:
        return enter(case_id, by=by, fence=fence)
    if fence != case.fence:
        raise StaleFence(OTHER_HANDS.format(case.name))
    return case, now
