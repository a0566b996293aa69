"""How many calls of a tool may leave now: its slots, its minute, its breaker. Pure; `engine.dispatch` acts on it.

A breaker opens after so many failures in a row within its time; once that time is past, one probe may go: its answer
closes the breaker, or opens it anew.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping
from typing import Any

MINUTE = dt.timedelta(minutes=1)
NO_LIMIT = 1_000_000


@dataclasses.dataclass(slots=True)
class Room:
    """`slots`: calls that may leave now. Beyond them one waits for a slot if `reason` is "", else it is blocked."""

    slots: int
    reason: str = ""  # rate | breaker
    until: dt.datetime | None = None
    probe: bool = False


def room(limits: Mapping[str, Any] | None, gauge: Any, under_way: int, now: dt.datetime) -> Room:
    """`gauge`: the tool's counted use; `limits`: as in its spec, seconds and counts."""
    if not limits:
        return Room(NO_LIMIT)
    free = max(limits.get("concurrent", NO_LIMIT) - under_way, 0)
    if gauge.open_until is not None and now < gauge.open_until:
        return Room(0, "breaker", gauge.open_until)
    if gauge.open_until is not None:
        within = dt.timedelta(seconds=limits["breaker"]["within"])
        return Room(min(free, 1), "breaker" if free else "", now + within, probe=free > 0)
    rate = limits.get("per_minute")
    if rate is None:
        return Room(free)
    left = rate - (gauge.sent if gauge.minute == minute_of(now) else 0)
    if left <= free:
        return Room(max(left, 0), "rate", minute_of(now) + MINUTE)
    return Room(free)


def minute_of(now: dt.datetime) -> dt.datetime:
    return now.replace(second=0, microsecond=0)


def after_failure(breaker: Mapping[str, Any], gauge: Any, failures: int, now: dt.datetime) -> None:
    """Counts failures in a row into the gauge, and opens its breaker where there are enough."""
    within = dt.timedelta(seconds=breaker["within"])
    probing = gauge.open_until is not None
    if gauge.failing_since is None or (now - gauge.failing_since > within and not probing):
        gauge.failures, gauge.failing_since = 0, now
    gauge.failures += failures
    if probing or gauge.failures >= breaker["after"]:
        gauge.open_until = now + within
