"""Reads and writes the counted use of tools, for dispatch and record. A tool without limits is not counted."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

from workflows.models import Effect, Gauge
from workflows.outcomes import Acknowledged, NotSent, Outcome, Pending, Refused, Unknown
from workflows.policies import limits
from workflows.states import EffectState


def limits_of(tool: Any) -> dict[str, Any] | None:
    found: dict[str, Any] | None = tool.spec.get("limits")
    return found


def allot(
    effects: Sequence[Effect], now: dt.datetime
) -> tuple[list[Effect], list[tuple[Effect, limits.Room]], set[uuid.UUID]]:
    """(those that may go, those to be blocked and why, tools whose slots are full). Locks the tools' gauges."""
    limited = {e.tool.name: e.tool for e in effects if limits_of(e.tool)}
    if not limited:
        return list(effects), [], set()
    gauges = _locked(sorted(limited))
    busy = _under_way({e.tool_id for e in effects if e.tool.name in limited})
    rooms = {name: limits.room(limits_of(tool), gauges[name], busy[tool.id], now) for name, tool in limited.items()}
    going, blocked, full = [], [], set()
    for effect in effects:
        room = rooms.get(effect.tool.name)
        if room is None or room.slots > 0:
            going.append(effect)
            if room is not None:
                room.slots -= 1
        elif room.reason:
            blocked.append((effect, room))
        else:
            full.add(effect.tool_id)
    _count(going, limited, gauges, rooms, now)
    return going, blocked, full


def _locked(names: list[str]) -> dict[str, Gauge]:
    """Gauges in order of name; made where they are met the first time."""
    found = {g.tool: g for g in Gauge.objects.filter(tool__in=names).order_by("tool").select_for_update()}
    if missing := [Gauge(tool=name) for name in names if name not in found]:
        Gauge.objects.bulk_create(missing, ignore_conflicts=True)
        found = {g.tool: g for g in Gauge.objects.filter(tool__in=names).order_by("tool").select_for_update()}
    return found


def _under_way(tools: set[uuid.UUID]) -> Counter[uuid.UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tool_id, count(*) FROM workflows_effect WHERE state = %s AND tool_id = ANY (%s) GROUP BY tool_id",
            [EffectState.DISPATCHED.value, list(tools)],
        )
        return Counter(dict(cursor.fetchall()))


def _count(
    going: Iterable[Effect],
    limited: dict[str, Any],
    gauges: dict[str, Gauge],
    rooms: dict[str, limits.Room],
    now: dt.datetime,
) -> None:
    """Counts what goes into its minute, and gives a probe its time, where a tool has such a limit."""
    sent = Counter(e.tool.name for e in going)
    changed = []
    for name, tool in limited.items():
        gauge, room = gauges[name], rooms[name]
        if room.probe and sent[name]:
            gauge.open_until = room.until
            changed.append(gauge)
        elif (limits_of(tool) or {}).get("per_minute") and sent[name]:
            this = limits.minute_of(now)
            gauge.sent = (gauge.sent if gauge.minute == this else 0) + sent[name]
            gauge.minute = this
            changed.append(gauge)
    if changed:
        Gauge.objects.bulk_update(changed, ["minute", "sent", "open_until"])


def failed(outcome: Outcome) -> bool | None:
    """Whether an answer says that the provider is in trouble; None where it says nothing of that."""
    match outcome:
        case Unknown():
            return None if outcome.in_flight else True
        case Refused():
            return None if outcome.rejected else outcome.temporary
        case NotSent():
            return None if outcome.ours else True
        case Acknowledged() | Pending():
            return False


def learn(answered: Sequence[tuple[Effect, Outcome]], now: dt.datetime) -> None:
    """Counts failures, and closes the breakers of tools that answer again; their waiters may go."""
    bad: Counter[str] = Counter()
    good: set[str] = set()
    tools = {}
    for effect, outcome in answered:
        verdict = failed(outcome) if limits_of(effect.tool) else None
        if verdict is None:
            continue
        tools[effect.tool.name] = effect.tool
        if verdict:
            bad[effect.tool.name] += 1
        else:
            good.add(effect.tool.name)
            bad.pop(effect.tool.name, None)
    if bad:
        gauges = _locked(sorted(bad))
        for name, number in bad.items():
            limits.after_failure((limits_of(tools[name]) or {})["breaker"], gauges[name], number, now)
        Gauge.objects.bulk_update(gauges.values(), ["failures", "failing_since", "open_until"])
    if good - set(bad):
        _close(sorted(good - set(bad)), now)


def _close(names: list[str], now: dt.datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE workflows_gauge SET failures = 0, failing_since = NULL, open_until = NULL"
            " WHERE tool = ANY (%s) AND (failures > 0 OR open_until IS NOT NULL) RETURNING tool, open_until",
            [names],
        )
        closed = [row[0] for row in cursor.fetchall()]
        if closed:
            cursor.execute(
                "UPDATE workflows_effect e SET due_at = %s FROM workflows_tool t"
                " WHERE t.id = e.tool_id AND t.name = ANY (%s) AND e.state = 'blocked' AND e.reason = 'breaker'",
                [now, closed],
            )
