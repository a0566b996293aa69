"""Cancels a run: what has not left does not leave any more; what stands is undone, or held for a person."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.engine.parts.locked import locked_run
from workflows.errors import RunOver
from workflows.models import Agent, Run
from workflows.states import Phase


def cancel(agent: Agent, run_id: uuid.UUID, *, reason: str, then: str = "compensate") -> Run:
    """`then`: compensate | hold. A run that turns back already goes on doing so. Raises `RunOver`, `NotFound`.

    The lock excludes dispatch, which takes its runs in share: when this returns nothing new of the run is sent."""
    with transaction.atomic():
        run = locked_run(agent, run_id)
        if run.phase == Phase.OVER:
            raise RunOver(f"run {run.id} ended: {run.state}")
        if run.phase == Phase.UNWINDING:
            return run
        now = rows.now()
        run.unwind(ending=then, cause="cancel", reason=reason)
        run.payload = {"reason": reason, "then": then}
        run.state = run.phase if not run.needs_person else run.state
        run.advance_at = now
        ledger.save_runs([run], now=now, actor=f"agent:{agent.name}")
        return run
