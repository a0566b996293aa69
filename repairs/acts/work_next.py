"""Gives a person the most harmful case that nobody works on. Two who ask at once get two cases, and neither waits."""

from __future__ import annotations

from django.db import transaction

from repairs import worklist
from repairs.acts.claim import take
from repairs.acts.door import needs
from repairs.desk import Desk
from repairs.models import Case
from repairs.roles import REPAIRER
from repairs.scope import visible
from workflows import rows
from workflows.states import CaseState

TRIES = 5  # a case may be claimed between being found and being locked


def work_next(desk: Desk) -> Case | None:
    """The case, claimed; None where nothing is free now: held by others, or being moved by the engine this moment."""
    needs(desk.user, REPAIRER)
    for _ in range(TRIES):
        with transaction.atomic():
            now = rows.now()
            cases = worklist.harm_first(visible(desk, Case), now)
            free = cases.filter(~worklist.held(now), state=CaseState.OPEN.value)
            runs_first = free.select_related("run").select_for_update(of=("run",), skip_locked=True)
            found = runs_first.order_by(*worklist.ORDER).first()
            if found is None:
                return None
            case = Case.objects.select_for_update().get(id=found.id)
            if case.state == CaseState.OPEN and case.holder_at(now) is None:
                take(case, by=desk.user, now=now)
                return case
    return None
