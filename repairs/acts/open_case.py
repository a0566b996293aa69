"""Opening a case by hand: a person knows that something of a run is wrong of which the engine says nothing.

All that may be done to the run is done there (docs/decisions/0102).
"""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import transaction

from repairs import cases
from repairs.acts.claim import take
from repairs.acts.door import actor, needs
from repairs.acts.record import record
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from repairs.words.marked import _
from workflows.engine import reopen as runs
from workflows.engine.parts.locked import any_locked_run
from workflows.errors import StaleFence
from workflows.states import Phase
from workflows.why import reason

OPENING = (ActKind.OPEN_CASE.value, ActKind.REOPEN.value)


def open_case(run_id: uuid.UUID, *, by: User, why: str, over: bool) -> Case:
    """The run's case is live, and theirs; one that was closed is opened again. The same form sent twice opens once.

    `over`: whether the page showed a run that is over. Raises `Denied`, `StaleFence` (there is an open case by now, or
    the run is over by now), `Invalid`, `NotFound`."""
    needs(by, REPAIRER)
    why = reason(why)
    with transaction.atomic():
        run = any_locked_run(run_id)
        known = cases.lock([run.id]).get(run.id)
        if known and known.live:
            return _the_same(known, by, why)
        if (run.phase == Phase.OVER) is not over:
            raise StaleFence(
                _("The run is over by now; read what became of it, then decide.")
                if not over
                else _("The run goes on again by now; read what it does, then decide.")
            )
        runs.reopen(run.id, by=actor(by), why=why)
        case = cases.lock([run.id])[run.id]
        kind = ActKind.REOPEN if known else ActKind.OPEN_CASE
        act = record(case.id, kind=kind, by=by, why=why, outcome=Outcome.DONE, now=case.changed_at)
        take(Case.objects.get(id=case.id), by=by, now=act.at)
        return case


def _the_same(case: Case, by: User, why: str) -> Case:
    """Raises `StaleFence` where it isn't this person's opening, for this reason."""
    last = Act.objects.filter(case=case, kind__in=OPENING, at__gte=case.opened_at).order_by("-id").first()
    if last is None or (last.by_id, last.why) != (by.pk, why):
        raise StaleFence(_("{name} is open by now; read what it says.", name=case.name))
    return case
