"""Lets go whoever waited for a scope that is free now, one per scope by epoch, or for a time that has come: that of its
tool, or the end of the stop that holds it."""

from __future__ import annotations

import uuid

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.engine.parts.waiters import who_may_go
from workflows.models import Effect
from workflows.states import EffectState

# What ends at `due_at`: a minute, a breaker's time, a stop, the time to approve; or somebody sets it to now.
OWN_TIME = ("rate", "breaker", "hold", "approval", "budget", "version")

FREE = """
SELECT e.id FROM workflows_effect e
WHERE e.state = 'blocked' AND e.reason = 'order' AND NOT EXISTS (
  SELECT 1 FROM workflows_scopehold h WHERE h.scope = ANY (e.scopes) AND h.effect_id <> e.id
  AND h.effect_id IS DISTINCT FROM coalesce(e.compensates_id, e.makes_good_id))
ORDER BY e.epoch, e.ordinal LIMIT %s
"""
TIMELY = """
SELECT e.id FROM workflows_effect e
WHERE e.state = 'blocked' AND e.reason = ANY (%s) AND e.due_at <= clock_timestamp()
ORDER BY e.due_at, e.epoch, e.ordinal LIMIT %s
"""
# Whose budget is another than the one that was judged: raised, given back to, or in its next window.
EASED = """
SELECT e.id FROM workflows_effect e
WHERE e.state = 'blocked' AND e.reason = 'budget' AND EXISTS (
  SELECT 1 FROM jsonb_array_elements(e.blocked_by) w JOIN workflows_budget b ON b.id = (w ->> 'budget')::uuid
  WHERE b.revision <> (w ->> 'revision')::int)
ORDER BY e.epoch, e.ordinal LIMIT %s
"""


def release(limit: int) -> set[uuid.UUID]:
    """Makes ready the first waiter of each free scope, and those whose own time has come."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            waiters = f"({FREE}) UNION ALL ({TIMELY}) UNION ALL ({EASED})"
            cursor.execute(waiters, [limit, list(OWN_TIME), limit, limit])
            ids = [row[0] for row in cursor.fetchall()]
        now = rows.now()
        ids += who_may_go(limit, now)
        if not ids:
            return set()
        effects = (
            Effect.objects.filter(id__in=ids, state=EffectState.BLOCKED.value, reason__in=["order", *OWN_TIME])
            .order_by("epoch", "ordinal", "id")
            .select_for_update(skip_locked=True)
        )
        taken: set[str] = set()
        first = []
        for effect in effects:
            if effect.reason != "order" or taken.isdisjoint(effect.scopes):
                effect.release(due_at=now)
                first.append(effect)
            taken.update(effect.scopes)
        return ledger.save_effects(first, now=now)
