"""Sets a run aside that can't be advanced: it needs a person, and says so. Tried again when something of it moves."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.models import Run
from workflows.signals import runs_need_people
from workflows.states import RunState

KEPT = 1000  # characters of the trouble; the whole traceback is in the log


def aside(run_id: uuid.UUID, trouble: str) -> None:
    """`trouble`: the traceback; its last line is what people read."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("workflow", "agent").get(id=run_id)
        now = rows.now()
        last = trouble.strip().splitlines()[-1]
        run.people_reasons = [{"code": "engine_error", "effect": None, "step": "", "tool": "", "detail": last[:KEPT]}]
        run.needs_person, run.state, run.advance_at = True, RunState.STUCK.value, None
        run.event, run.payload = "note", {"state": run.state, "trouble": trouble[-KEPT:]}
        ledger.woke([run.id])
        ledger.save_runs([run], now=now)
        runs_need_people.send(sender=Run, runs=[run])
