"""Reads until when something shall hold, as a person says it: 30m, 2h, 1d, or a moment with its zone."""

from __future__ import annotations

import datetime as dt
import re

from workflows.errors import Flaw, Invalid
from workflows.marked import _

LENGTH = re.compile(r"([0-9]{1,5})(s|m|h|d)")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
HOW = _("must be a length like 30m, 2h or 1d, or a moment with its zone like 2026-12-01T06:00Z")


def until_of(text: str, now: dt.datetime) -> dt.datetime | None:
    """The moment; None where nothing is said. Raises `Invalid`."""
    text = text.strip()
    if not text:
        return None
    if match := LENGTH.fullmatch(text):
        return now + dt.timedelta(**{UNITS[match[2]]: int(match[1])})
    moment = moment_of(text)
    if moment is None or moment.tzinfo is None:
        raise Invalid(_("Nothing was written."), [Flaw("until", text, HOW)])
    return moment


def moment_of(text: str) -> dt.datetime | None:
    """The moment that a text names, in UTC where it says its zone; None where it is none.

    What has left the years 1 to 9999 in UTC is none: the database keeps it, and then nobody can read the row again."""
    try:
        moment = dt.datetime.fromisoformat(text.strip())
        return moment.astimezone(dt.UTC) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None
