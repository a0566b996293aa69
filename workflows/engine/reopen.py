"""A person's word that something of a run is wrong, while it is under way or over; and that it is settled."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.engine.parts.locked import any_locked_run
from workflows.errors import Invalid
from workflows.models import Effect, Run, Step
from workflows.policies import run_words
from workflows.policies.residue import residue_of
from workflows.signals import runs_need_people
from workflows.states import EffectState, Phase, RunState

KEPT = 1000  # characters of what they say; the journal has all


def reopen(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """The run needs a person until `settle`. Nothing is sent, undone or held back by it: what is under way goes on.
    Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run = any_locked_run(run_id)
        if run.needs_person:
            raise Invalid(f"run {run.id} needs a person already")
        run.people_reasons = [{"code": run_words.PERSON, "effect": None, "step": "", "tool": "", "detail": why[:KEPT]}]
        run.needs_person, run.state = True, RunState.STUCK.value
        if run.phase == Phase.OVER:
            run.is_clean = False
        return _saved(run, by, why)


def settle(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """Nothing but that word kept it open: the run is again what its effects say. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run = any_locked_run(run_id)
        others = sorted({reason["code"] for reason in run.people_reasons} - {run_words.PERSON})
        if others or not run.needs_person:
            raise Invalid(f"run {run.id} isn't open because of a person's word alone: {', '.join(others) or 'closed'}")
        steps = list(Step.objects.filter(run=run).order_by("ordinal"))
        effects = list(Effect.objects.filter(run=run).order_by("id"))
        if run.phase != Phase.OVER and any(effect.state == EffectState.STUCK for effect in effects):
            raise Invalid(f"an effect of run {run.id} has just got stuck; its case says why in a moment")
        run.people_reasons, run.needs_person = [], False
        run.state = run_words.state_of(run, steps, effects)
        if run.phase == Phase.OVER:
            run.is_clean = run_words.is_clean(run.state, effects)
            run.residue = residue_of(run.state, effects, turned=bool(run.end_cause))
        return _saved(run, by, why)


def _saved(run: Run, by: str, why: str) -> Run:
    run.event, run.payload = "note", {"state": run.state, "why": why}
    ledger.save_runs([run], now=rows.now(), actor=by)
    runs_need_people.send(sender=Run, runs=[run])
    return run
