"""Brings reservations to where their effects are by now: those of lost workers, and of effects that looks or people
moved. Called by drains and sweeps; doing it twice changes nothing."""

from __future__ import annotations

import uuid

from django.db import connection, transaction

from workflows import rows
from workflows.authority import budget_rows, budgets
from workflows.models import Effect

BATCH = 500

BEHIND = """
SELECT r.effect_id FROM workflows_reservation r JOIN workflows_effect e ON e.id = r.effect_id
WHERE r.open AND ((r."call" <> '{}' AND e.state <> 'dispatched') OR (r.state = 'held' AND (
  e.state IN ('acknowledged', 'verified', 'failed', 'cancelled', 'undone', 'written_off')
  OR (e.state = 'stuck' AND e.world NOT IN ('unknown', 'nothing')))))
UNION
SELECT r.effect_id FROM workflows_effect e JOIN workflows_reservation r ON r.effect_id = e.id
WHERE e.state = 'stuck' AND e.world <> 'nothing' AND r.state = 'returned'
LIMIT %s
"""


def reconcile() -> set[uuid.UUID]:
    """The ids of effects whose reservations were behind. Where there are none it is one statement."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(BEHIND, [BATCH])
            behind = {row[0] for row in cursor.fetchall()}
        if not behind:
            return behind
        books = budget_rows.locked_for(behind, rows.now())
        # Read again under the locks: whoever dispatches or records one of them counts before it commits.
        found = Effect.objects.filter(id__in=behind).values_list("id", "state", "world")
        budgets.settle_facts(books, {pk: budgets.Fact(state, world) for pk, state, world in found})
    return behind
