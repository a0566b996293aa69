"""What a person was shown before an act, for tests that act."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from repairs import preview
from repairs.models import Case
from repairs.models.act import ActKind
from workflows import rows


def shown(kind: ActKind, case: Case, effect_id: uuid.UUID | None, by: User) -> str:
    """The note that the case's page carries now."""
    return preview.of_act(kind, preview.facts_of(case.run_id), effect_id, rows.now()).note(case.id, by)


def off(case: Case, effect_id: uuid.UUID | None, by: User) -> str:
    """Of a write-off."""
    return shown(ActKind.WRITE_OFF, case, effect_id, by)
