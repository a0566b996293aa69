"""How long an effect or a run may go without getting any further before a person is told. Pure.

Everything that waits has a time of its own, and the engine ends it; this is for the case that it doesn't: no worker, a
blocker that hangs, a bug of ours. Nobody waits for ever without an owner.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

NO_PROGRESS = "no_progress"
A_MOMENT, QUARTER, HOUR, DAY = 120.0, 900.0, 3600.0, 86400.0

# Seconds by state, and by reason where it is blocked, beyond its own last time. Machines are waited for an hour at
# most; what a person has in hand, or an agent that may still add steps, a day.
BOUNDS = {
    "dispatched": A_MOMENT,
    "ready": QUARTER,
    "pending": QUARTER,
    "unknown": QUARTER,
    "acknowledged": QUARTER,
    "blocked dependency": QUARTER,
    "blocked order": HOUR,
    "blocked rate": HOUR,
    "blocked breaker": HOUR,
    "blocked version": HOUR,
    "blocked gate": DAY,
    "blocked approval": DAY,
    "blocked policy": DAY,
    "blocked budget": DAY,
    "blocked hold": DAY,
}
OF_A_RUN = QUARTER  # of one in which nothing is under way, and that isn't over all the same
SHORTEST = min(BOUNDS.values())


def overdue_since(effect: Any, now: dt.datetime) -> dt.datetime | None:
    """Since when it has got no further, if that is for too long."""
    key = f"blocked {effect.reason}" if effect.state == "blocked" else effect.state
    bound = BOUNDS.get(key)
    if bound is None or (effect.state == "acknowledged" and not effect.verifiable):
        return None
    since: dt.datetime = effect.progress_at or effect.created_at
    own = [effect.lease_until, effect.looks_until]
    if effect.state in ("ready", "blocked"):
        own.append(effect.due_at)
    begins = max([since, *(t for t in own if t is not None)])
    return since if now > begins + dt.timedelta(seconds=bound) else None


def said(since: dt.datetime) -> str:
    return f"no progress since {since.isoformat(timespec='seconds')}"
