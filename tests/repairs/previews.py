"""What a person was shown before an act, and what they ask for then, as the page does: for tests that act."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts import write_off
from repairs.models import Act, Case
from repairs.models.act import ActKind
from workflows import rows
from workflows.models import Effect


def shown(kind: ActKind, case: Case, effect_id: uuid.UUID | None, by: User) -> str:
    """The note that the case's page carries now."""
    return preview.of_act(kind, preview.facts_of(case.run_id), effect_id, rows.now()).note(case.id, by)


def off(case: Case, effect_id: uuid.UUID | None, by: User) -> str:
    """Of a write-off."""
    return shown(ActKind.WRITE_OFF, case, effect_id, by)


def proposed(case: Case, by: User, why: str = "it may stay") -> Act:
    """A second person is asked to leave what is stuck of the case as it is."""
    effect = Effect.objects.get(run=case.run_id, state="stuck")
    fence = Case.objects.values_list("fence", flat=True).get(id=case.id)
    note = off(case, effect.id, by)
    write_off.propose(case.id, effect_id=effect.id, by=by, why=why, fence=fence, seq=effect.seq, note=note)
    return Act.objects.filter(case=case, kind="propose_write_off").latest("id")
