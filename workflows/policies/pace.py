"""How fast a tool is used again after trouble, and how many of its calls may be repeats. Pure; `limits` asks it.

1. A breaker that closes, or a provider that says "too many", begins a pace: so many calls a second.
2. Each second without trouble it grows: twofold up to what was well last time, by a tenth beyond.
3. Trouble halves it, once a second at most: what fails together is one sign of trouble, not many.
4. Beyond a pace that nobody needs it is forgotten.

So a backlog meets a provider that came back with as much as it can take, and never all at once.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

SECOND = dt.timedelta(seconds=1)
SLOWEST = 0.5  # calls a second: below that nothing would be learnt in a reasonable time
START = 2.0  # calls a second once a probe came back: one send and its look
FREE = 200.0  # calls a second: more than one tool's slots let through anyway
SLOWLY = 0.1  # how much more each second, beyond what was well
IN_A_ROW = 0.25  # seconds' worth of calls that may leave together
PAUSE_MOST = 300.0  # seconds; a single answer must not silence a tool for longer
# A failed repeat costs one; a call that is none earns a tenth, a repeat that succeeds gives its own back, and a second
# earns one, so that nothing is held for ever. So a provider in trouble gets at most a tenth more calls from us.
SHARE = 0.1
MOST_CREDIT = 20.0
CREDIT_A_SECOND = 1.0


def of(gauge: Any, now: dt.datetime) -> float | None:
    """Calls a second; None where nothing is held back."""
    if gauge.pace is None:
        return None
    seconds = max((now - gauge.paced_at).total_seconds(), 0.0)
    pace: float = gauge.pace
    well = gauge.steady if gauge.steady is not None else FREE
    if pace < well:
        doublings = min(seconds, math.log2(well / pace))
        pace, seconds = pace * 2.0**doublings, seconds - doublings
    if seconds > 0:
        pace *= (1.0 + SLOWLY) ** min(seconds, 100.0)
    return pace if pace < FREE else None


def tokens(gauge: Any, pace: float, now: dt.datetime) -> float:
    """Calls that may leave now: those of the time since the last, and a few in a row."""
    since = max((now - gauge.tokens_at).total_seconds(), 0.0) if gauge.tokens_at else 0.0
    most: float = min(gauge.tokens + since * pace, max(pace * IN_A_ROW, 1.0))
    return most


def spend(gauge: Any, calls: int, now: dt.datetime) -> None:
    if (pace := of(gauge, now)) is None:
        gauge.pace = gauge.steady = None
        return
    gauge.tokens, gauge.tokens_at = tokens(gauge, pace, now) - calls, now


def next_token(gauge: Any, pace: float, now: dt.datetime) -> dt.datetime:
    missing = 1.0 - tokens(gauge, pace, now)
    return now + max(missing, 0.0) / pace * SECOND


def begin(gauge: Any, pace: float, now: dt.datetime, *, steady: float | None = None) -> None:
    gauge.pace, gauge.paced_at, gauge.steady = max(pace, SLOWEST), now, steady
    gauge.tokens, gauge.tokens_at = 1.0, now


def slow_down(gauge: Any, now: dt.datetime) -> None:
    """There was trouble at this pace."""
    pace = of(gauge, now)
    if pace is None or now - gauge.paced_at < SECOND:
        return
    half = max(pace / 2, SLOWEST)
    gauge.pace, gauge.paced_at, gauge.steady = half, now, half
    gauge.tokens, gauge.tokens_at = min(gauge.tokens, 0.0), now


def pause(gauge: Any, seconds: float, now: dt.datetime) -> None:
    """The provider asks to be left alone for so long: not one effect, the tool."""
    until = now + min(seconds, PAUSE_MOST) * SECOND
    gauge.paused_until = max(gauge.paused_until or until, until)


def credit(gauge: Any, now: dt.datetime) -> float:
    since = max((now - gauge.credit_at).total_seconds(), 0.0) if gauge.credit_at else 0.0
    most: float = min(gauge.credit + since * CREDIT_A_SECOND, MOST_CREDIT)
    return most


def use_credit(gauge: Any, *, fresh: int, repeats: int, now: dt.datetime) -> None:
    gauge.credit, gauge.credit_at = min(credit(gauge, now) + SHARE * fresh - repeats, MOST_CREDIT), now


def next_credit(gauge: Any, now: dt.datetime) -> dt.datetime:
    return now + max(1.0 - credit(gauge, now), 0.0) / CREDIT_A_SECOND * SECOND
