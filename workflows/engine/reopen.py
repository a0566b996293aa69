"""A person's word that something of a run that is over is still wrong, and their word that it is settled."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.errors import Invalid, NotFound
from workflows.models import Effect, Run, Step
from workflows.policies import run_words
from workflows.policies.residue import residue_of
from workflows.signals import runs_need_people
from workflows.states import Phase, RunState

KEPT = 1000  # characters of what they say; the journal has all


def reopen(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """The run needs a person until `settle`; nothing of it is sent or undone. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run = _over(run_id)
        if run.needs_person:
            raise Invalid(f"run {run.id} needs a person already")
        run.people_reasons = [{"code": run_words.PERSON, "effect": None, "step": "", "tool": "", "detail": why[:KEPT]}]
        run.needs_person, run.state, run.is_clean = True, RunState.STUCK.value, False
        return _saved(run, by, why)


def settle(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """Nothing but that word kept it open: the run is again what its effects say. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run = _over(run_id)
        others = sorted({reason["code"] for reason in run.people_reasons} - {run_words.PERSON})
        if others or not run.needs_person:
            raise Invalid(f"run {run.id} isn't open because of a person's word alone: {', '.join(others) or 'closed'}")
        steps = list(Step.objects.filter(run=run).order_by("ordinal"))
        effects = list(Effect.objects.filter(run=run).order_by("id"))
        run.people_reasons, run.needs_person = [], False
        run.state = run_words.state_of(run, steps, effects)
        run.is_clean = run_words.is_clean(run.state, effects)
        run.residue = residue_of(run.state, effects, turned=bool(run.end_cause))
        return _saved(run, by, why)


def _over(run_id: uuid.UUID) -> Run:
    found = Run.objects.filter(id=run_id).select_related("workflow", "agent").select_for_update(of=("self",))
    run = found.first()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    if run.phase != Phase.OVER:
        raise Invalid(f"run {run.id} is {run.phase}; wait until the engine is done with it")
    return run


def _saved(run: Run, by: str, why: str) -> Run:
    run.event, run.payload = "note", {"state": run.state, "why": why}
    ledger.save_runs([run], now=rows.now(), actor=by)
    runs_need_people.send(sender=Run, runs=[run])
    return run
