"""What a tool's gauges say now: calls under way, its minute, its breaker. Pure."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping
from typing import Any

from repairs.words.marked import _, ngettext

MINUTE = dt.timedelta(minutes=1)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """`tone` is calm, good, doubt or bad; `until` is when the breaker lets a probe go."""

    words: str
    shape: str
    tone: str
    until: dt.datetime | None = None


def breaker(limits: Mapping[str, Any], gauge: Any, now: dt.datetime) -> Reading:
    """`gauge`: the tool's counted use, None where it was never counted."""
    if not (limits or {}).get("breaker"):
        return Reading(_("no breaker"), "empty", "calm")
    if gauge is None or gauge.open_until is None:
        failures = gauge.failures if gauge else 0
        if not failures:
            return Reading(_("breaker closed"), "check", "good")
        words = ngettext("breaker closed, {count} failed in a row", "breaker closed, {count} failed in a row", failures)
        return Reading(words, "ring", "doubt")
    if now < gauge.open_until:
        return Reading(_("breaker open: nothing is sent"), "octagon", "bad", gauge.open_until)
    return Reading(_("breaker open: one probe may go"), "octagon", "doubt", gauge.open_until)


def minute(limits: Mapping[str, Any], gauge: Any, now: dt.datetime) -> tuple[int, int] | None:
    """(sent in this minute, how many may be), None where no rate is declared."""
    most = (limits or {}).get("per_minute")
    if not most:
        return None
    same = gauge is not None and gauge.minute == now.replace(second=0, microsecond=0)
    return (gauge.sent if same else 0), int(most)
