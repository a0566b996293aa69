"""A natural key's world is asked anew where somebody was at it since: nothing is sent on old news. For dispatch."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence

from django.db import connection

from workflows.models import Effect
from workflows.toolbox import times_of


def anew(effects: Sequence[Effect], stopped: list[Effect], now: dt.datetime) -> list[Effect]:
    """Those that may go; the others' scopes were in other hands since they asked, and they ask again."""
    natural = [
        e for e in effects if not e.compensates_id and e.first_sent_at is None and e.verifiable and times_of(e).natural
    ]
    if not natural:
        return list(effects)
    since = _touched_since(natural)
    late = [e for e in natural if not e.asked or e.id in since]
    for effect in late:
        effect.asked = False
        by = [{"look": "somebody was at it since the world was asked"}]
        effect.block(reason="dependency", blocked_by=by, due_at=now)
        stopped.append(effect)
    gone = {e.id for e in late}
    return [e for e in effects if e.id not in gone]


def waits(effect: Effect) -> None:
    """Whoever waits for a scope knows nothing any more of what its holder leaves there."""
    effect.asked = False


def _touched_since(effects: Sequence[Effect]) -> set[uuid.UUID]:
    with connection.cursor() as cursor:
        cursor.execute(TOUCHED, [[e.id for e in effects]])
        return {row[0] for row in cursor.fetchall()}


TOUCHED = """
SELECT e.id FROM workflows_effect e WHERE e.id = ANY (%s) AND EXISTS (
  SELECT 1 FROM workflows_scopeuse u JOIN workflows_effect o ON o.id = u.effect_id
  WHERE u.scope = ANY (e.scopes) AND o.id <> e.id AND o.changed_at >= e.changed_at)
"""
