"""For whom an effect waits: the chain of those that hold what it needs, and of those that these wait for in turn."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any

from django.db import connection

LONGEST = 10  # links; crossed runs can't wait in a ring, but a page must end


def chains(effect_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, list[dict[str, Any]]]:
    """For each effect that waits in order its links, nearest first. One query."""
    found: dict[uuid.UUID, list[dict[str, Any]]] = {effect_id: [] for effect_id in effect_ids}
    if not found:
        return found
    with connection.cursor() as cursor:
        cursor.execute(CHAINS, [list(found), LONGEST])
        for waiter, *link in cursor.fetchall():
            found[waiter].append(dict(zip(LINK, link, strict=True)))
    return found


LINK = ("effect", "run", "step", "tool", "scope", "state", "reason", "since", "needs_person")
CHAINS = """
WITH RECURSIVE chain AS (
  SELECT e.id AS waiter, (b->>'effect')::uuid AS holder, b->>'scope' AS scope, 1 AS depth
  FROM workflows_effect e, jsonb_array_elements(e.blocked_by) b
  WHERE e.id = ANY (%s) AND e.state = 'blocked' AND e.reason = 'order' AND b ? 'effect'
  UNION
  SELECT c.waiter, (b->>'effect')::uuid, b->>'scope', c.depth + 1
  FROM chain c JOIN workflows_effect h ON h.id = c.holder, jsonb_array_elements(h.blocked_by) b
  WHERE c.depth < %s AND h.state = 'blocked' AND h.reason = 'order' AND b ? 'effect'
)
SELECT c.waiter, h.id::text, h.run_id::text, s.name, t.name, c.scope, h.state, h.reason, h.changed_at, r.needs_person
FROM chain c JOIN workflows_effect h ON h.id = c.holder JOIN workflows_step s ON s.id = h.step_id
JOIN workflows_tool t ON t.id = h.tool_id JOIN workflows_run r ON r.id = h.run_id
ORDER BY c.waiter, c.depth, c.scope
"""
