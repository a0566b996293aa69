"""Finds runs in which nothing has got any further for too long, and has them advanced: a person is told. For sweeps.

A run that was forgotten goes on by that; for one that can't, `advance` says so, and its case has an owner.
"""

from __future__ import annotations

import json
import uuid

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.policies import ages

BATCH = 500


def overdue() -> set[uuid.UUID]:
    """Wakes up to BATCH runs that were not told of yet; returns their ids."""
    with transaction.atomic():
        now = rows.now()
        with connection.cursor() as cursor:
            cursor.execute(
                OVERDUE,
                {
                    "now": now,
                    "shortest": ages.SHORTEST,
                    "bounds": json.dumps(ages.BOUNDS),
                    "of_a_run": ages.OF_A_RUN,
                    "batch": BATCH,
                },
            )
            found = {row[0] for row in cursor.fetchall()}
        ledger.wake_runs(found)
        return found


# Runs that are not over are few, and found by their state; only of those that stand still the effects are read.
OVERDUE = """
SELECT r.id FROM workflows_run r
WHERE r.state IN ('open', 'running', 'unwinding', 'stuck')
AND r.changed_at < %(now)s - make_interval(secs => %(shortest)s)
AND NOT r.people_reasons @> '[{"code": "no_progress"}]' AND NOT r.people_reasons @> '[{"code": "engine_error"}]'
AND NOT EXISTS (SELECT 1 FROM workflows_wake w WHERE w.run_id = r.id)
AND (
  EXISTS (
    SELECT 1 FROM workflows_effect e WHERE e.run_id = r.id
    AND NOT (e.state = 'acknowledged' AND NOT e.verifiable)
    AND NOT (r.needs_person AND e.state = 'blocked' AND e.blocked_by @? '$[*].step')  -- whoever it waits for is told
    AND greatest(coalesce(e.progress_at, e.created_at), e.lease_until, e.looks_until,
                 CASE WHEN e.state IN ('ready', 'blocked') THEN e.due_at END)
      + make_interval(secs => (%(bounds)s::jsonb
          ->> (e.state || CASE WHEN e.state = 'blocked' THEN ' ' || e.reason ELSE '' END))::float) < %(now)s
  ) OR (
    r.phase IN ('running', 'unwinding') AND NOT jsonb_path_exists(r.people_reasons, '$[*] ? (@.code != "person")')
    AND r.changed_at < %(now)s - make_interval(secs => %(of_a_run)s)
    AND coalesce(r.advance_at, %(now)s) <= %(now)s AND coalesce(r.waits_until, %(now)s) <= %(now)s
    AND NOT EXISTS (
      SELECT 1 FROM workflows_effect e WHERE e.run_id = r.id
      AND (e.state IN ('blocked', 'ready', 'dispatched', 'pending', 'unknown')
           OR (e.state = 'acknowledged' AND e.verifiable)))
  )
) ORDER BY r.id LIMIT %(batch)s
"""
