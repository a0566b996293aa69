"""Decides when work is kept away from workers: what it was handed over for ended them, or never came back. Pure.

The counts are raised in the commit that hands the work over, so a worker that dies in it can't forget them.
"""

from __future__ import annotations

import datetime as dt

from workflows.policies.after_outcome import horizon
from workflows.policies.next import Facts, Next
from workflows.tools.timings import Timings

# One lost worker is an accident, two may be; the third time in a row it is the work.
TOO_OFTEN = 3
QUARANTINED = "poison"


def too_often(effect: Facts) -> bool:
    return effect.unanswered >= TOO_OFTEN or effect.unseen >= TOO_OFTEN


def quarantine(effect: Facts, times: Timings, last_send: dt.datetime) -> Next:
    """A person gets it; no worker does. What its sends did nobody knows."""
    act = "sent" if effect.unanswered >= TOO_OFTEN else "looked at"
    count = max(effect.unanswered, effect.unseen)
    detail = f"it was {act} {count} times in a row, and each time its worker died or never came back with an answer"
    fields = {"reason": QUARANTINED, "detail": detail}
    if effect.state != "dispatched":
        return Next(move="stick", fields=fields)
    knows = {**horizon(times, last_send), "doubt": True, "lost_lease": True}
    return Next(move="stick", fields={**fields, "world": "unknown"}, knows=knows)
