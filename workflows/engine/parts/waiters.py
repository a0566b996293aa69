"""Picks those who may go of the effects that wait for their tool's time. For release only.

The tool's gauge says when; its waiters are not written until they go. So a backlog of thousands costs no more than what
leaves of it.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from typing import Any

from django.db import connection

from workflows.engine.parts import gauges
from workflows.fetch import fetch
from workflows.models import Gauge
from workflows.policies import limits, pace

AGAIN = dt.timedelta(seconds=0.05)  # between two looks at a tool whose waiters go one by one


def who_may_go(most: int, now: dt.datetime) -> list[uuid.UUID]:
    """The first of each tool whose time has come, as many as it has room for. Locks the tools' gauges."""
    due = fetch(Gauge, DUE, [now])
    if not due:
        return []
    declared = _declared([gauge.tool for gauge in due])
    rooms = {gauge.tool: limits.room(declared.get(gauge.tool), gauge, 0, now) for gauge in due}
    slots = {name: min(room.slots, most) for name, room in rooms.items()}
    waiting = _waiting(slots)
    going: list[uuid.UUID] = []
    for gauge in due:
        first: list[uuid.UUID] = []
        found = waiting.get(gauge.tool, [])
        room = rooms[gauge.tool]
        for effect, repeated in found:
            if len(first) < slots[gauge.tool] and (room.repeats > 0 or not repeated):
                first.append(effect)
                room.repeats -= repeated
        going += first
        gauge.next_at = _next(gauge, room, now) if len(first) < len(found) else None
    gauges.write(due)
    return going


DUE = "WHERE t.next_at <= %s ORDER BY t.tool FOR UPDATE SKIP LOCKED"


def _next(gauge: Gauge, room: limits.Room, now: dt.datetime) -> dt.datetime:
    if room.slots <= 0 and room.until is not None:
        return room.until
    if room.repeats <= 0 and room.again is not None:
        return max(room.again, now + AGAIN)
    speed = pace.of(gauge, now)
    return now + (max(AGAIN, pace.SECOND / speed) if speed else AGAIN)


def _declared(names: list[str]) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT ON (name) name, spec->'limits' FROM workflows_tool WHERE name = ANY (%s)"
            " ORDER BY name, current DESC, version DESC",
            [names],
        )
        return {name: json.loads(found) if isinstance(found, str) else found for name, found in cursor.fetchall()}


def _waiting(slots: dict[str, int]) -> dict[str, list[tuple[uuid.UUID, bool]]]:
    """Of each tool its first waiters, one more than may go: that one tells whether somebody stays."""
    found: dict[str, list[tuple[uuid.UUID, bool]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [list(slots), list(slots.values())])
        for name, effect, repeated in cursor.fetchall():
            found.setdefault(name, []).append((effect, repeated))
    return found


WAITING = """
SELECT g.name, e.id, e.repeated FROM unnest(%s::text[], %s::int[]) AS g(name, slots)
JOIN workflows_tool t ON t.name = g.name
CROSS JOIN LATERAL (
  SELECT id, epoch, ordinal, attempts > 0 OR backoffs > 0 AS repeated FROM workflows_effect
  WHERE state = 'blocked' AND reason IN ('rate', 'breaker') AND tool_id = t.id
  ORDER BY epoch, ordinal LIMIT g.slots + 1
) e ORDER BY g.name, e.epoch, e.ordinal
"""
