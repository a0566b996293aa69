"""Cancels a run: what has not left does not leave any more; what stands is undone, or held for a person."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.engine.parts.locked import any_locked_run, locked_run
from workflows.errors import Invalid, RunOver
from workflows.models import Agent, Run
from workflows.states import Phase


def cancel(agent: Agent, run_id: uuid.UUID, *, reason: str, then: str = "compensate") -> Run:
    """`then`: compensate | hold. A run that turns back already goes on doing so. Raises `RunOver`, `NotFound`.

    The lock excludes dispatch, which takes its runs in share: when this returns nothing new of the run is sent."""
    with transaction.atomic():
        run = locked_run(agent, run_id)
        if run.phase == Phase.OVER:
            raise RunOver(f"run {run.id} ended: {run.state}")
        return run if run.phase == Phase.UNWINDING else _turned(run, reason, then, f"agent:{agent.name}")


def cancel_by_person(run_id: uuid.UUID, *, then: str, by: str, why: str) -> Run:
    """The same by a person, whoever's run it is. One that turns back already is nobody's to cancel: what they were
    shown isn't what it does. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run = any_locked_run(run_id)
        if run.phase not in (Phase.OPEN, Phase.RUNNING):
            raise Invalid(f"run {run.id} is {run.state}; only a run that goes forward can be cancelled")
        return _turned(run, why, then, by)


def _turned(run: Run, reason: str, then: str, by: str) -> Run:
    now = rows.now()
    run.unwind(ending=then, cause="cancel", reason=reason)
    run.payload = {"reason": reason, "then": then}
    run.state = run.phase if not run.needs_person else run.state
    run.advance_at = now
    ledger.save_runs([run], now=now, actor=by)
    return run
