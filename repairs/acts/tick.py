"""Keeping one's place in a runbook: a step was done and showed what it should, or something else. Blocks nothing."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import transaction

from repairs.acts.door import lock, needs
from repairs.acts.note import write
from repairs.models import Act
from repairs.models.act import ActKind
from repairs.roles import REPAIRER
from repairs.runbook import runbooks
from repairs.words.marked import _
from workflows.errors import Flaw, Invalid, StaleFence
from workflows.why import reason


def tick(case_id: uuid.UUID, *, by: User, name: str, version: int, step: int, seen: str = "") -> None:
    """`seen`: what was seen or done otherwise, "" where all was as expected. Ticking twice ticks once.

    Raises `Denied`, `Invalid`, `NotFound`, `StaleFence` where the runbook isn't what the page showed."""
    needs(by, REPAIRER)
    deviates = bool(seen.strip())
    why = reason(seen) if deviates else ""
    runbook = runbooks().get(name)
    if runbook is None or not 1 <= step <= len(runbook.steps):
        raise Invalid(
            _("This form is not whole; open the page anew."), [Flaw("step", step, _("is no step of a runbook"))]
        )
    if runbook.version != version:
        raise StaleFence(_("This runbook is version {version} by now; read it again.", version=runbook.version))
    kind = ActKind.DEVIATE if deviates else ActKind.TICK
    facts = {"runbook": name, "version": version, "step": step}
    with transaction.atomic():
        lock(case_id)
        of_step = Act.objects.filter(case=case_id, kind__in=(ActKind.TICK, ActKind.DEVIATE), facts__contains=facts)
        last = of_step.order_by("-id").first()
        if last is None or (last.kind, last.why) != (kind, why):
            write(case_id, kind, by, why, facts=facts, detail=runbook.steps[step - 1].words)
