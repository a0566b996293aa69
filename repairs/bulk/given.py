"""What an act on many cases has to know beside its reason: until when, whose help. Checked whole as it is asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from repairs.acts import escalate, snooze
from repairs.models.batch import BatchAct


def given(act: BatchAct, typed: Mapping[str, str], now: dt.datetime) -> dict[str, str]:
    """As it is kept: a length of time is a moment from now on, the same for each case. Raises `Invalid`."""
    match act:
        case BatchAct.SNOOZE:
            end = snooze.end_of(typed.get("until", ""), now)
            return {"cause": snooze.cause_of(typed.get("cause", "")), "until": end.isoformat()}
        case BatchAct.ESCALATE:
            return {"to": escalate.known(typed.get("to", "").strip())}
        case _:
            return {}
