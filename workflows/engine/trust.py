"""Whether a tool's promise about keys is believed: a person may doubt it, and lift what stands. With who and why."""

from __future__ import annotations

import uuid

from django.db import transaction

from workflows import rows
from workflows.engine.parts import promises
from workflows.errors import Invalid, NotFound
from workflows.models import Demotion
from workflows.why import reason


def doubt(tool: str, version: int, *, effect_id: uuid.UUID, by: str, why: str) -> Demotion:
    """From now on this version counts as one without keys: what a probe or the vendor told. Raises `Invalid`."""
    why = reason(why)
    with transaction.atomic():
        if Demotion.objects.filter(tool=tool, version=version, lifted_at=None).exists():
            raise Invalid(f"{tool} v{version} is demoted already")
        row = Demotion(tool=tool, version=version, effect_id=effect_id, seen={"how": why, "by": by}, at=rows.now())
        promises.write(row, "demote", row.at, by, {"why": why})
    promises.refresh()
    return row


def lift(tool: str, version: int, *, by: str, why: str) -> Demotion:
    """Its keys are believed again, for what is sent from now on. Raises `Invalid`, `NotFound`."""
    why = reason(why)
    with transaction.atomic():
        row = Demotion.objects.filter(tool=tool, version=version, lifted_at=None).select_for_update().first()
        if row is None:
            raise NotFound(f"{tool} v{version} is not demoted")
        row.lifted_at, row.lifted_by, row.lift_reason = rows.now(), by[:100], why
        promises.write(row, "trust", row.lifted_at, by, {"why": why})
    promises.refresh()
    return row
