"""Takes a signed message from outside as a hint: keeps it once, and has looked at what it names. Called by the API."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.fetch import fetch
from workflows.models import Effect, Hook, Tool
from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError

MOST = 100  # effects that one message may name; no honest one speaks of more
LONGEST = 500  # characters of a name, as long as the longest that a provider's answer gave us


def hint(source: str, event_id: str, *, sent_at: dt.datetime, body: dict[str, Any]) -> tuple[Hook, bool]:
    """(what is kept, whether it is new). Moves no state: effects that wait for a look are looked at now, by their own
    rules. A second copy, also one that comes at the same moment, changes nothing."""
    with transaction.atomic():
        now = rows.now()
        hook = Hook(source=source, event_id=event_id, sent_at=sent_at, received_at=now, body=body)
        Hook.objects.bulk_create([hook], ignore_conflicts=True)
        kept = Hook.objects.get(source=source, event_id=event_id)
        if kept.id != hook.id:
            return kept, False
        named, waiting = _named(source, body)
        _look(waiting, hook, now)
        hook.effects, hook.looks = [str(pk) for pk in named], len(waiting)
        hook.save(update_fields=["effects", "looks"])
    return hook, True


def _named(source: str, body: dict[str, Any]) -> tuple[list[uuid.UUID], dict[uuid.UUID, uuid.UUID]]:
    """(effects that it names, those of them that wait for a look with their runs)."""
    wanted = []
    for name, spec in Tool.objects.filter(current=True, spec__hooks__source=source).values_list("name", "spec"):
        values = [text for path in spec["hooks"]["names"] if (text := _value(path, body))]
        wanted += [(name, value) for value in values]
    if not wanted:
        return [], {}
    with connection.cursor() as cursor:
        cursor.execute(NAMED, [[tool for tool, _ in wanted], [value for _, value in wanted], MOST])
        found = cursor.fetchall()
    return list(dict.fromkeys(pk for pk, _, _ in found)), {pk: run for pk, run, waits in found if waits}


def _value(path: str, body: dict[str, Any]) -> str:
    names = {"body": body}
    try:
        value = expressions.compile(path, names).run(names)
    except ExpressionError:
        return ""
    sound = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if sound and len(str(value)) <= LONGEST else ""


# By our key whatever became of it; by the provider's name only while it waits for a look: there is an index for these.
NAMED = """
WITH wanted AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS w(tool, name)),
live AS (
  SELECT e.id, e.run_id, e.tool_id, e.external_ref, e.compensates_id FROM workflows_effect e
  WHERE e.state IN ('unknown', 'acknowledged', 'pending', 'blocked') AND e.due_at IS NOT NULL
    AND (e.state <> 'blocked' OR e.reason = 'dependency'))
SELECT e.id, e.run_id, e.id IN (SELECT id FROM live)
FROM wanted w JOIN workflows_effect e ON e.key = w.name JOIN workflows_tool t ON t.id = e.tool_id AND t.name = w.tool
UNION
SELECT l.id, l.run_id, true FROM live l JOIN workflows_tool t ON t.id = l.tool_id
LEFT JOIN workflows_effect f ON f.id = l.compensates_id
JOIN wanted w ON w.tool = t.name AND w.name IN (l.external_ref, f.external_ref, f.key) AND w.name <> ''
LIMIT %s
"""


def _look(waiting: dict[uuid.UUID, uuid.UUID], hook: Hook, now: dt.datetime) -> None:
    if not waiting:
        return
    ledger.wake_runs(set(waiting.values()))  # runs are locked before effects
    effects = fetch(Effect, STILL, [rows.ids(waiting)])
    for effect in effects:
        effect.note()
        effect.due_at, effect.payload = now, {"hook": str(hook.id), "source": hook.source}
    ledger.save_effects(effects, now=now, actor=f"hook {hook.source}")


STILL = """
WHERE t.id = ANY (%s::uuid[]) AND t.state IN ('unknown', 'acknowledged', 'pending', 'blocked')
ORDER BY t.id FOR UPDATE
"""
