"""What a batch does with one of its cases, under the locks of its run and case. Called by `repairs.bulk.running`."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts import claim as claims
from repairs.acts import escalate as escalates
from repairs.acts import note as notes
from repairs.acts import on_effect as on_effects
from repairs.acts import snooze as snoozes
from repairs.acts import turn_back as turns
from repairs.acts.door import actor, lock
from repairs.acts.record import engine, record, refusal_kept
from repairs.bulk.standing import Line, lines
from repairs.desk import desk_for
from repairs.models import Batch, BatchItem, Case
from repairs.models.act import ActKind, Outcome
from repairs.models.batch import BatchAct, ItemState
from repairs.roles import REPAIRER
from repairs.scope import visible
from repairs.words.marked import _, ngettext
from workflows.engine import people
from workflows.errors import MakegoodError
from workflows.why import LONGEST


def act(batch: Batch, item: BatchItem) -> tuple[ItemState, str]:
    """Does it if all is as it was chosen; how it ended, in words. Inside the transaction that keeps that."""
    desk = desk_for(batch.by)
    if REPAIRER not in desk.roles or not visible(desk, Case).filter(id=item.case_id).exists():
        return ItemState.REFUSED, _("{who} may not act on it any more.", who=batch.by.get_username())
    now = lock(item.case_id)[1]
    line = lines(batch, BatchItem.objects.filter(id=item.id), now)[0]
    if not line.prospect.will:
        return ItemState.SKIPPED, line.prospect.says
    try:
        return do(batch, line)
    except MakegoodError as error:
        return ItemState.REFUSED, str(error.detail)[:300]


def do(batch: Batch, line: Line) -> tuple[ItemState, str]:
    by, case = batch.by, line.item.case
    match BatchAct(batch.act):
        case BatchAct.LOOK_AGAIN:
            for effect_id in line.lookable:
                look(case, effect_id, by, because(batch))
            said = ngettext("Asked to look at {count} effect.", "Asked to look at {count} effects.", len(line.lookable))
            return ItemState.DONE, said
        case BatchAct.CLAIM:
            claims.claim(case.id, by=by)
            return ItemState.DONE, _("Claimed.")
        case BatchAct.RELEASE:
            claims.release(case.id, by=by)
            return ItemState.DONE, _("Given back.")
        case BatchAct.FACT:
            notes.note(case.id, kind=ActKind.FACT, by=by, text=because(batch))
            return ItemState.DONE, _("Written down.")
        case BatchAct.SNOOZE:
            snoozes.snooze(case.id, by=by, why=because(batch), fence=case.fence, **batch.given)
            return ItemState.DONE, _("Set aside.")
        case BatchAct.ESCALATE:
            escalates.escalate(case.id, by=by, why=because(batch), **batch.given)
            return ItemState.DONE, _("Escalated to {whom}.", whom=batch.given["to"])
        case BatchAct.TURN_BACK | BatchAct.TRY_AGAIN | BatchAct.UNDO_AGAIN:
            return send(batch, line)


def send(batch: Batch, line: Line) -> tuple[ItemState, str]:
    """By the act of the case's own page: it claims the case for the asker under its fence, and proves once more that
    what would be sent is what both people were shown."""
    assert line.sending is not None
    item, kind, effect = line.item, ActKind(batch.act), line.sending.effect
    second = f"confirmed by {batch.second.get_username()}" if batch.second else "alone"
    told: dict[str, Any] = {"by": batch.by, "why": because(batch, second), "fence": item.case.fence}
    told["note"] = preview.note_of(kind, item.case_id, item.effect_id, batch.by, item.preview, batch.made_at)
    if effect is None:
        turns.turn_back(item.case_id, **told)
    else:
        on_effects.ask(kind, item.case_id, effect_id=effect.id, seq=effect.seq, **told)
    said = ngettext("Asked for {count} request.", "Asked for {count} requests.", line.sending.requests)
    return ItemState.DONE, said


def because(batch: Batch, *more: str) -> str:
    """The batch's reason with its name, as long as a reason may be."""
    of = f" ({', '.join([batch.name, *more])})"
    return f"{batch.why[: LONGEST - len(of)]}{of}"


def look(case: Case, effect_id: uuid.UUID, by: User, why: str) -> None:
    """It reads only, so it takes no claim: who looks at fifty cases doesn't work on fifty."""
    with refusal_kept(case.id, kind=ActKind.LOOK_AGAIN, by=by, why=why, effect_id=effect_id):
        _, now = lock(case.id)
        with engine():
            people.look_again(effect_id, by=actor(by), why=why)
        record(case.id, kind=ActKind.LOOK_AGAIN, by=by, why=why, outcome=Outcome.ASKED, now=now, effect_id=effect_id)
