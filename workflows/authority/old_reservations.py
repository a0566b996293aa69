"""Forgets what was taken of windows that are long over: nobody counts it any more. Called by the sweep."""

from __future__ import annotations

from django.db import connection

# From the beginning of a window, which lasts at most a day: who asks a week later what a budget took finds it.
KEPT = 8.0  # days
MOST = 5000  # a minute; so many are gone in a moment


def forget() -> int:
    """How many went. What somebody still has to find out about stays, and so does what counts for ever: it says which
    customers were touched, and what comes back if an act turns out to have done nothing."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET, [KEPT, MOST])
        gone: int = cursor.rowcount
        return gone


FORGET = """
DELETE FROM workflows_reservation WHERE id = ANY (ARRAY(
  SELECT r.id FROM workflows_reservation r
  WHERE NOT r.open AND r."window" IS NOT NULL AND r."window" < clock_timestamp() - make_interval(secs => %s * 86400)
  ORDER BY r."window" LIMIT %s FOR UPDATE SKIP LOCKED))
"""
