"""Reads and writes the counted use of tools, for dispatch and record. A tool without limits is not counted."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from workflows import rows
from workflows.models import Effect, Gauge
from workflows.outcomes import Acknowledged, NotSent, Outcome, Pending, Refused, Unknown
from workflows.policies import limits, pace
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
    gauges = locked(sorted(limited))
    busy = _under_way({e.tool_id for e in effects if e.tool.name in limited})
    rooms = {name: limits.room(limits_of(tool), gauges[name], busy[tool.id], now) for name, tool in limited.items()}
    going, blocked, full = [], [], set()
    fresh: Counter[str] = Counter()
    repeats: Counter[str] = Counter()
    for effect in effects:
        room = rooms.get(effect.tool.name)
        if room is None:
            going.append(effect)
        elif room.slots <= 0 and not room.reason:
            full.add(effect.tool_id)
        elif room.slots <= 0:
            blocked.append((effect, room))
        elif repeated(effect) and repeats[effect.tool.name] >= room.repeats:
            blocked.append((effect, limits.Room(0, "rate", room.again)))
        else:
            going.append(effect)
            room.slots -= 1
            (repeats if repeated(effect) else fresh)[effect.tool.name] += 1
    changed = [
        name
        for name, tool in limited.items()
        if limits.count(
            gauges[name], limits_of(tool) or {}, rooms[name], fresh=fresh[name], repeats=repeats[name], now=now
        )
    ]
    _expect(gauges, blocked)
    write([gauges[name] for name in {*changed, *(effect.tool.name for effect, _ in blocked)}])
    return going, blocked, full


def repeated(effect: Effect) -> bool:
    """Whether it was tried before: what didn't leave then was a try too."""
    return bool(effect.attempts or effect.backoffs)


def _expect(gauges: dict[str, Gauge], blocked: Sequence[tuple[Effect, limits.Room]]) -> None:
    """The tool tells when its waiters may go: that is written in one row, not in each of theirs."""
    for effect, room in blocked:
        gauge = gauges[effect.tool.name]
        gauge.next_at = min(filter(None, (gauge.next_at, room.until)))


def locked(names: list[str]) -> dict[str, Gauge]:
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


def write(gauges: Collection[Gauge]) -> None:
    """All that is counted of these tools, in one statement; the caller has locked them."""
    if gauges:
        data = [rows.values(gauge, COLUMNS) for gauge in gauges]
        with connection.cursor() as cursor:
            cursor.execute(WRITE, [rows.encode(data)])


COLUMNS = tuple(field.attname for field in Gauge._meta.concrete_fields)
WRITE = (
    f"UPDATE workflows_gauge g SET {', '.join(f'{name} = v.{name}' for name in COLUMNS if name != 'tool')}"  # noqa: S608
    " FROM json_populate_recordset(NULL::workflows_gauge, %s::json) v WHERE g.tool = v.tool"
)


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
    """Counts failures, slows down and pauses where the provider asks for it, and closes the breakers of tools that
    answer again; their waiters may go."""
    bad: Counter[str] = Counter()
    good: set[str] = set()
    tools = {}
    asked: dict[str, float] = {}  # the longest wait that was asked for
    earned: Counter[str] = Counter()  # repeats that succeeded
    for effect, outcome in answered:
        verdict = failed(outcome) if limits_of(effect.tool) else None
        if verdict is None:
            continue
        name = effect.tool.name
        tools[name] = effect.tool
        if verdict:
            bad[name] += 1
        else:
            good.add(name)
            bad.pop(name, None)
            earned[name] += bool(effect.sending and effect.sending.number > 1)
        if isinstance(outcome, Refused) and outcome.temporary:
            asked[name] = max(asked.get(name, 0.0), outcome.retry_after or 0.0)
    if changed := set(bad) | set(asked) | {name for name, number in earned.items() if number}:
        gauges = locked(sorted(changed))
        crowd = _under_way({tools[name].id for name in asked}) if asked else Counter()
        for name, gauge in gauges.items():
            if name in bad:
                limits.after_failure((limits_of(tools[name]) or {})["breaker"], gauge, bad[name], now)
            elif name in good:
                limits.after_success(gauge, now)
            if name in asked:
                too_many(gauge, crowd[tools[name].id] + bad[name], asked[name], now)
            pace.use_credit(gauge, fresh=0, repeats=-earned[name], now=now)
        write(gauges.values())
    if well := good - changed:
        _close(sorted(well), now)


def too_many(gauge: Gauge, at_once: int, wait: float, now: dt.datetime) -> None:
    """The provider is busy: fewer at once from now on, and none for as long as it asks for."""
    if pace.of(gauge, now) is None:
        pace.begin(gauge, max(pace.START, at_once / 2), now, steady=max(pace.START, at_once / 2))
    pace.pause(gauge, wait, now)


def _close(names: list[str], now: dt.datetime) -> None:
    """What answers has no failures in a row; hardly ever is there one to be written."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tool FROM workflows_gauge WHERE tool = ANY (%s) AND (failures > 0 OR open_until IS NOT NULL)",
            [names],
        )
        failing = [row[0] for row in cursor.fetchall()]
    if failing:
        gauges = locked(sorted(failing))
        for gauge in gauges.values():
            limits.after_success(gauge, now)
        write(gauges.values())
