"""Lets a run go forward that is held: a person has put right what it failed of.

1. Steps that failed, or were called off before anything of them left, are begun anew; what was done is not repeated.
2. What they do is a new effect under a new key: the earlier one is proved to have done nothing, and a provider may
   answer its key with the old refusal for ever.
3. Its time begins anew, else a deadline that is past would turn it back at once.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence

from django.db import transaction

from workflows import ledger, rows
from workflows.engine.parts.locked import any_locked_run
from workflows.errors import Invalid
from workflows.models import Effect, Run, Step, Wake
from workflows.policies.unwinding import mode_of
from workflows.states import EffectState, Phase, StepState

CALLED_OFF = "stopping"  # why a step was skipped that the way back called off


def resume(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """Raises `Invalid` where something was undone, is under way or stuck, `NotFound`."""
    with transaction.atomic():
        run = any_locked_run(run_id)
        effects = list(Effect.objects.filter(run=run).order_by("id"))
        if no := why_not(run, effects):
            raise Invalid(f"run {run.id} {no}")
        if Wake.objects.filter(run=run).exists():
            raise Invalid(f"run {run.id} has just been told something and hasn't moved on yet; try again in a moment")
        now = rows.now()
        again = let_go_on(run, list(Step.objects.filter(run=run).order_by("ordinal")), now)
        run.repaired = True
        moved = [{"step": step.name, "to": step.state} for step in again]
        run.payload = {"why": why, **({"steps": moved} if moved else {})}
        run.state = run.phase if not run.needs_person else run.state
        run.advance_at = now
        ledger.save_steps(again)
        ledger.save_runs([run], now=now, actor=by)
        return run


def why_not(run: Run, effects: Iterable[Effect]) -> str:
    """What speaks against it, as what is said of the run; "" where it can go forward."""
    effects = list(effects)
    if run.phase != Phase.UNWINDING or not run.end_cause:
        return f"is {run.state}; only a run that is held on its way can go forward again"
    if any(e.compensates_id and e.state != EffectState.CANCELLED for e in effects):
        return "has begun to undo what it did; what is undone isn't done again"
    if mode_of(run, run.workflow.spec, effects) != "hold":
        return "isn't held: it undoes what stands, or people decided to leave it"
    if any(e.open and not e.remedy for e in effects):
        return "has an effect that is stuck or under way; settle that first"
    if any(e.state in LEFT and not e.compensates_id and not e.remedy for e in effects):
        return "has an effect that people left as it is; begun anew it could be there twice"
    return ""


LEFT = (EffectState.WRITTEN_OFF, EffectState.UNDONE)


def let_go_on(run: Run, steps: Sequence[Step], now: dt.datetime) -> list[Step]:
    """In memory; returns the steps that are begun anew."""
    run.resume()
    if run.deadline is not None:
        run.deadline = now + dt.timedelta(seconds=run.workflow.spec["deadline"])
    again = [step for step in steps if not step.remedy and _stopped(step)]
    for step in again:
        step.resume()
    return again


def _stopped(step: Step) -> bool:
    return step.state == StepState.FAILED or (step.state == StepState.SKIPPED and step.reason == CALLED_OFF)
