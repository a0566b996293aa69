"""Seals a run: no more steps will come. Doing it twice changes nothing."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.engine.parts.locked import locked_run
from workflows.errors import RunOver
from workflows.models import Agent, Run
from workflows.states import Phase


def seal(agent: Agent, run_id: uuid.UUID) -> tuple[Run, bool]:
    """(the run, whether it was sealed now). Raises `RunOver` for an open run that ended unsealed, `NotFound`."""
    with transaction.atomic():
        run = locked_run(agent, run_id)
        if run.phase == Phase.OVER:
            raise RunOver(f"run {run.id} ended: {run.state}")
        if run.sealed:
            return run, False
        now = rows.now()
        run.seal()
        run.state = run.phase if not run.needs_person else run.state
        run.advance_at = now
        ledger.save_runs([run], now=now, actor=f"agent:{agent.name}")
        return run, True
