"""How many calls of a tool may leave now: its slots, its minute, its breaker, its pace. Pure; the engine acts on it.

A breaker opens after so many failures in a row within its time; once that time is past, one probe may go: its answer
closes the breaker, or opens it anew. What waited then goes at a pace that grows.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

from workflows.policies import pace

MINUTE = dt.timedelta(minutes=1)
NO_LIMIT = 1_000_000


@dataclasses.dataclass(slots=True)
class Room:
    """`slots`: calls that may leave now. Beyond them one waits for a slot if `reason` is "", else it is blocked until
    about `until`. Of them `repeats` may be of what was tried before; beyond that a repeat is blocked until `again`."""

    slots: int
    reason: str = ""  # rate | breaker
    until: dt.datetime | None = None
    probe: bool = False
    repeats: int = NO_LIMIT
    again: dt.datetime | None = None


def room(limits: Mapping[str, Any] | None, gauge: Any, under_way: int, now: dt.datetime) -> Room:
    """`gauge`: the tool's counted use; `limits`: as in its spec, seconds and counts."""
    if not limits:
        return Room(NO_LIMIT)
    free = max(limits.get("concurrent", NO_LIMIT) - under_way, 0)
    if gauge.open_until is not None and now < gauge.open_until:
        return Room(0, "breaker", gauge.open_until)
    if gauge.paused_until is not None and now < gauge.paused_until:
        return Room(0, "rate", gauge.paused_until)
    if gauge.open_until is not None:
        within = dt.timedelta(seconds=limits["breaker"]["within"])
        return Room(min(free, 1), "breaker" if free else "", now + within, probe=free > 0)
    found = min(_by_minute(limits, gauge, free, now), _by_pace(gauge, free, now), key=lambda r: r.slots)
    found.repeats, found.again = math.floor(pace.credit(gauge, now)), pace.next_credit(gauge, now)
    return found


def _by_minute(limits: Mapping[str, Any], gauge: Any, free: int, now: dt.datetime) -> Room:
    """The minute slides: of the one before it counts what share of it lies within the last sixty seconds."""
    rate = limits.get("per_minute")
    if rate is None:
        return Room(free)
    sent, before = counted(gauge, now)
    begun = minute_of(now)
    left = math.floor(rate - sent - before * (1 - (now - begun) / MINUTE))
    if left > free:
        return Room(free)
    if sent < rate and before:
        share = (rate - 1 - sent) / before
    else:
        begun, share = begun + MINUTE, (rate - 1) / max(sent, 1)
    return Room(max(left, 0), "rate", begun + (1 - min(share, 1.0)) * MINUTE)


def counted(gauge: Any, now: dt.datetime) -> tuple[int, int]:
    """(calls in this minute, in the one before)."""
    this = minute_of(now)
    if gauge.minute == this:
        return gauge.sent, gauge.sent_before
    return 0, gauge.sent if gauge.minute == this - MINUTE else 0


def _by_pace(gauge: Any, free: int, now: dt.datetime) -> Room:
    speed = pace.of(gauge, now)
    if speed is None:
        return Room(free)
    slots = math.floor(max(pace.tokens(gauge, speed, now), 0.0))
    return Room(slots, "rate", pace.next_token(gauge, speed, now)) if slots < free else Room(free)


def minute_of(now: dt.datetime) -> dt.datetime:
    return now.replace(second=0, microsecond=0)


def count(gauge: Any, limits: Mapping[str, Any], found: Room, *, fresh: int, repeats: int, now: dt.datetime) -> bool:
    """Counts calls that leave now into the gauge; whether it changed."""
    calls = fresh + repeats
    changed = False
    if found.probe and calls:
        gauge.open_until, changed = found.until, True
    if limits.get("per_minute") and calls:
        sent, before = counted(gauge, now)
        gauge.minute, gauge.sent, gauge.sent_before, changed = minute_of(now), sent + calls, before, True
    if gauge.pace is not None and calls:
        pace.spend(gauge, calls, now)
        changed = True
    if repeats or (fresh and gauge.credit < pace.MOST_CREDIT):
        pace.use_credit(gauge, fresh=fresh, repeats=repeats, now=now)
        changed = True
    return changed


def after_failure(breaker: Mapping[str, Any], gauge: Any, failures: int, now: dt.datetime) -> None:
    """Counts failures in a row into the gauge, slows down, and opens its breaker where there are enough."""
    within = dt.timedelta(seconds=breaker["within"])
    probing = gauge.open_until is not None
    if gauge.failing_since is None or (now - gauge.failing_since > within and not probing):
        gauge.failures, gauge.failing_since = 0, now
    gauge.failures += failures
    pace.slow_down(gauge, now)
    if probing or gauge.failures >= breaker["after"]:
        gauge.open_until = now + within
        pace.begin(gauge, pace.SLOWEST, now)  # of looks, which go on
        gauge.steady = pace.SLOWEST


def after_success(gauge: Any, now: dt.datetime) -> None:
    """Closes the breaker: what waited begins slowly."""
    gauge.failures, gauge.failing_since = 0, None
    if gauge.open_until is not None:
        gauge.open_until = None
        pace.begin(gauge, pace.START, now)
        gauge.next_at = now
