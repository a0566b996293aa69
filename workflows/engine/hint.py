"""Takes a signed message from outside as a hint: keeps it once, and has looked at what it names. Called by the API."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.db import connection, transaction

from workflows import ledger, making, rows
from workflows.engine.parts import told
from workflows.fetch import fetch
from workflows.models import Effect, Hook, Tool
from workflows.states import EffectState
from workflows.toolbox import give_tools, times_of
from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError

S = EffectState
MOST = 100  # effects that one message may name; no honest one speaks of more
LONGEST = 500  # characters of a name, as long as the longest that a provider's answer gave us


def hint(source: str, event_id: str, *, sent_at: dt.datetime, body: dict[str, Any]) -> tuple[Hook, bool]:
    """(what is kept, whether it is new). Moves no state: effects that wait for a look are looked at now, and what is
    settled or at rest once more, by their own rules. A second copy, also one at the same moment, changes nothing."""
    with transaction.atomic():
        now = rows.now()
        hook = Hook(source=source, event_id=event_id, sent_at=sent_at, received_at=now, body=body)
        Hook.objects.bulk_create([hook], ignore_conflicts=True)
        kept = Hook.objects.get(source=source, event_id=event_id)
        if kept.id != hook.id:
            return kept, False
        named = _named(source, body)
        hook.effects, hook.looks = [str(pk) for pk in named], _look(named, hook, now)
        hook.save(update_fields=["effects", "looks"])
    return hook, True


def _named(source: str, body: dict[str, Any]) -> dict[uuid.UUID, uuid.UUID]:
    """Effects that it names, with their runs."""
    wanted = []
    for name, spec in Tool.objects.filter(current=True, spec__hooks__source=source).values_list("name", "spec"):
        values = [text for path in spec["hooks"]["names"] if (text := _value(path, body))]
        wanted += [(name, value) for value in values]
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(NAMED, [[tool for tool, _ in wanted], [value for _, value in wanted], MOST])
        return dict(cursor.fetchall())


def _value(path: str, body: dict[str, Any]) -> str:
    names = {"body": body}
    try:
        value = expressions.compile(path, names).run(names)
    except ExpressionError:
        return ""
    sound = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if sound and len(str(value)) <= LONGEST else ""


# By our key whatever became of it; by the provider's name only where there is an index: while it waits for a look, and
# once it is settled or at rest.
NAMED = """
WITH wanted AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS w(tool, name) WHERE name <> ''),
live AS (
  SELECT e.id, e.run_id, e.tool_id, e.external_ref, e.compensates_id FROM workflows_effect e
  WHERE e.state IN ('unknown', 'acknowledged', 'pending', 'blocked') AND e.due_at IS NOT NULL
    AND (e.state <> 'blocked' OR e.reason = 'dependency'))
SELECT e.id, e.run_id
FROM wanted w JOIN workflows_effect e ON e.key = w.name JOIN workflows_tool t ON t.id = e.tool_id AND t.name = w.tool
UNION
SELECT l.id, l.run_id FROM live l JOIN workflows_tool t ON t.id = l.tool_id
LEFT JOIN workflows_effect f ON f.id = l.compensates_id
JOIN wanted w ON w.tool = t.name AND w.name IN (l.external_ref, f.external_ref, f.key)
UNION
SELECT e.id, e.run_id FROM wanted w JOIN workflows_effect e ON e.external_ref = w.name AND e.external_ref <> ''
  AND e.state IN ('verified', 'failed', 'cancelled', 'undone', 'written_off')
JOIN workflows_tool t ON t.id = e.tool_id AND t.name = w.tool
LIMIT %s
"""


def _look(named: dict[uuid.UUID, uuid.UUID], hook: Hook, now: dt.datetime) -> int:
    """How many are looked at because of it, or are about to be anyway."""
    if not named:
        return 0
    ledger.wake_runs(set(named.values()))  # runs are locked before effects
    effects = fetch(Effect, TOUCHED, [rows.ids(named), rows.ids(named)])
    give_tools(effects)
    undoing = {e.compensates_id: e for e in effects if e.compensates_id and e.state != S.CANCELLED}
    one_each = {t.id: t for e in effects if e.id in named and (t := _to_look_at(e, undoing.get(e.id)))}
    last = told.last_looks(one_each)
    moved = []
    for effect in one_each.values():
        due = told.marked(effect) if told.under_way(effect, now) else told.due(effect, last.get(effect.id), now)
        if effect.due_at is None or effect.due_at > due:
            effect.note()
            effect.due_at, effect.payload = due, {"hook": str(hook.id), "source": hook.source}
            moved.append(effect)
    ledger.save_effects(moved, now=now, actor=f"hook {hook.source}")
    return len(one_each)


TOUCHED = """
WHERE t.id = ANY (%s::uuid[]) OR (t.compensates_id = ANY (%s::uuid[]) AND t.state <> 'cancelled')
ORDER BY t.id FOR UPDATE
"""


def _to_look_at(effect: Effect, undoing: Effect | None) -> Effect | None:
    """Where a look could see what became of it: at itself, or at the undoing that was seen. None where nobody can look,
    where nothing ever left us, or where something is under way that looks by itself."""
    if effect.state in (S.UNKNOWN, S.ACKNOWLEDGED, S.PENDING, S.BLOCKED):
        waits = effect.due_at is not None and (effect.state != S.BLOCKED or effect.reason == "dependency")
        return effect if waits else None
    if not told.at_rest(effect) or (effect.compensates_id and effect.state != S.VERIFIED):
        return None
    if undoing is not None and undoing.state == S.VERIFIED:
        return undoing if effect.at_rest else None
    if undoing is not None and not (effect.at_rest and undoing.settled):
        return None
    ours = effect.first_sent_at is not None and not effect.met
    return effect if ours and times_of(effect).verifies and making.may_look(effect) else None
