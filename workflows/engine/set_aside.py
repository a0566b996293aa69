"""Sets a run aside that can't be advanced: it needs a person, and says so. Tried again when something of it moves."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import ledger, rows
from workflows.models import Run
from workflows.policies import run_words
from workflows.signals import runs_need_people
from workflows.states import RunState

KEPT = 1000  # characters of the trouble; the whole traceback is in the log


def aside(run_id: uuid.UUID, trouble: str) -> None:
    """`trouble`: the traceback; its last line is what people read."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("workflow", "agent").get(id=run_id)
        now = rows.now()
        last = trouble.strip().splitlines()[-1]
        said = [reason for reason in run.people_reasons if reason["code"] == run_words.PERSON]
        broke = {"code": run_words.BROKEN, "effect": None, "step": "", "tool": "", "detail": last[:KEPT]}
        run.people_reasons = [broke, *said]  # what a person knows is in no effect: nothing would say it again
        run.needs_person, run.state, run.advance_at = True, RunState.STUCK.value, None
        run.event, run.payload = "note", {"state": run.state, "trouble": trouble[-KEPT:]}
        ledger.woke([run.id])
        ledger.save_runs([run], now=now)
        runs_need_people.send(sender=Run, runs=[run])
