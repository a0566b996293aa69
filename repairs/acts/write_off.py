"""Leaving what remains as it is: one person proposes with a reason, another confirms, then the engine is asked.

What is written off is one stuck effect, or (without an effect) all that stands of a run that turns back.

With FOUR_EYES=when_possible one person may do it alone; the row and the journal say so.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from repairs import cases, preview
from repairs.acts import glass as glasses
from repairs.acts.door import actor, enter, lock, needs, stuck_effect
from repairs.acts.evidence import Given
from repairs.acts.record import engine, record, refusal_kept
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from repairs.models.glass import Broken
from repairs.notices import telling
from repairs.roles import APPROVER, REPAIRER
from repairs.words.marked import _
from workflows.engine import people
from workflows.errors import Denied, NotFound, StaleFence
from workflows.models import Run
from workflows.states import CaseState, EffectState
from workflows.why import reason


def propose(
    case_id: uuid.UUID,
    *,
    effect_id: uuid.UUID | None,
    by: User,
    why: str,
    fence: int,
    seq: int,
    note: str,
    given: Sequence[Given] = (),
) -> None:
    """Asks a second person to write off. `seq`: the place in the effect's (or run's) history that the page showed;
    `note`: of the preview of what the run does then."""
    needs(by, REPAIRER)
    why = reason(why)
    with transaction.atomic():
        case, now = enter(case_id, by=by, fence=fence)
        facts = as_seen(case, effect_id, seq)
        preview.confirm(note, ActKind.WRITE_OFF, case, effect_id, by=by)
        if Act.objects.filter(case=case, effect=effect_id, facts__seq=seq, **cases.UNANSWERED).exists():
            raise StaleFence(_("A second person is asked already; they can confirm or decline."))
        known = {"effect_id": effect_id, "facts": facts, "given": given}
        act = record(
            case.id, kind=ActKind.PROPOSE_WRITE_OFF, by=by, why=why, outcome=Outcome.PROPOSED, now=now, **known
        )
        telling.of_write_off(case, act.id)
        case = Case.objects.get(id=case.id)
        if case.state == CaseState.OPEN:
            case.wait()
            cases.write([], [case], now, actor(by))


def confirm(act_id: uuid.UUID, *, by: User, why: str, note: str) -> None:
    """The second person's yes: writes off in the same transaction, if all is as the proposer saw it, and what the run
    does then is what the page showed to this person (`note`)."""
    needs(by, APPROVER)
    why = reason(why)
    proposal = proposal_of(act_id)
    if proposal.by_id == by.pk:
        raise Denied(_("{by} proposed this; another person must confirm it.", by=by.get_username()))
    effect_id = proposal.effect_id
    with refusal_kept(proposal.case_id, kind=ActKind.WRITE_OFF, by=by, why=why, effect_id=effect_id):
        case, now = lock(proposal.case_id)
        unanswered(act_id)
        as_seen(case, effect_id, proposal.facts.get("seq"))
        preview.confirm(note, ActKind.WRITE_OFF, case, effect_id, by=by)
        ask(case, effect_id, by, f"{proposal.why} (proposed by {proposal.by.get_username()}; confirmed: {why})")
        known = {"effect_id": effect_id, "second": proposal.by, "answers": proposal, "facts": proposal.facts}
        record(case.id, kind=ActKind.WRITE_OFF, by=by, why=why, outcome=Outcome.DONE, now=now, **known)


def ask(case: Case, effect_id: uuid.UUID | None, by: User, why: str) -> None:
    """The one engine verb of a write-off."""
    with engine():
        if effect_id:
            people.write_off(effect_id, by=actor(by), why=why)
        else:
            people.write_off_run(case.run_id, by=actor(by), why=why)


def decline(act_id: uuid.UUID, *, by: User, why: str) -> None:
    """The second person's no, or the proposer's own second thought. The case waits for nobody any more."""
    proposal = proposal_of(act_id)
    if proposal.by_id != by.pk:
        needs(by, APPROVER)
    why = reason(why)
    with transaction.atomic():
        case, now = lock(proposal.case_id)
        unanswered(act_id)
        known = {"effect_id": proposal.effect_id, "second": None, "answers": proposal}
        record(case.id, kind=ActKind.DECLINE_WRITE_OFF, by=by, why=why, outcome=Outcome.DONE, now=now, **known)
        case = Case.objects.get(id=case.id)
        if case.state == CaseState.WAITING and not Act.objects.filter(case=case, **cases.UNANSWERED).exists():
            case.proceed(at=now)
            cases.write([], [case], now, actor(by))


def alone(
    case_id: uuid.UUID,
    *,
    effect_id: uuid.UUID | None,
    by: User,
    why: str,
    fence: int,
    seq: int,
    note: str,
    given: Sequence[Given] = (),
    glass: bool = False,
) -> None:
    """One person's write-off, where the installation allows it, or they break the glass (`acts.glass`)."""
    needs(by, REPAIRER)
    if glass:
        glasses.may(by)
    elif settings.FOUR_EYES != "when_possible":
        raise Denied(_("This installation asks for two people (FOUR_EYES=required); propose it to another person."))
    why = reason(why)
    with refusal_kept(case_id, kind=ActKind.WRITE_OFF, by=by, why=why, effect_id=effect_id):
        case, now = enter(case_id, by=by, fence=fence)
        facts = as_seen(case, effect_id, seq)
        preview.confirm(note, ActKind.WRITE_OFF, case, effect_id, by=by)
        ask(case, effect_id, by, f"{why} (alone)")
        known = {"effect_id": effect_id, "alone": True, "facts": facts, "given": given}
        act = record(case.id, kind=ActKind.WRITE_OFF, by=by, why=why, outcome=Outcome.DONE, now=now, **known)
        if glass:
            what = "an effect" if effect_id else "the run"
            said = f"wrote off {what} of {case.name}, which nobody confirmed"
            glasses.broke(Broken.WRITE_OFF, act.id, said, by=by, why=why, team=case.run.agent.team)


def as_seen(case: Case, effect_id: uuid.UUID | None, seq: int | None) -> dict[str, Any]:
    """What is true now, if it is still what the person saw; else `StaleFence`: nobody decides about the unseen."""
    if effect_id is None:
        run = Run.objects.get(id=case.run_id)
        same, facts = run.seq == seq, {"state": run.state, "phase": run.phase, "seq": run.seq}
    else:
        effect = stuck_effect(case, effect_id)
        same = effect.state == EffectState.STUCK and effect.seq == seq
        facts = {"state": effect.state, "world": effect.world, "seq": effect.seq}
    if not same:
        raise StaleFence(_("This has changed since it was shown; read what is true now and decide again."))
    return facts


def proposal_of(act_id: uuid.UUID) -> Act:
    found = Act.objects.filter(id=act_id, kind=ActKind.PROPOSE_WRITE_OFF.value).select_related("by").first()
    if found is None:
        raise NotFound(_("There is no such proposal."))
    return found


def unanswered(act_id: uuid.UUID) -> None:
    """Under the case's lock, so that two answers can't both be the first."""
    if not Act.objects.filter(id=act_id, **cases.UNANSWERED).exists():
        raise StaleFence(_("Somebody has answered this proposal already."))
