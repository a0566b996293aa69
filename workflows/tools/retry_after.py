"""Retry-After in all the forms that providers send, read as seconds from now, or not at all."""

from __future__ import annotations

import datetime as dt
import math
import re
from email.utils import parsedate_to_datetime

SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")


def seconds(header: str | None, date: str | None, *, most: float, now: dt.datetime | None = None) -> float | None:
    """Seconds to wait, between 0 and `most`; None where there is no header or nobody can tell what it means.

    A date is held against the answer's own Date, since the provider's clock isn't ours.
    """
    if header is None:
        return None
    header = header.strip()
    if SECONDS.fullmatch(header):
        return min(float(math.ceil(float(header))), most)
    until = _date(header)
    if until is None:
        return None
    began = _date(date or "") or now or dt.datetime.now(dt.UTC)
    return min(max(0.0, (until - began).total_seconds()), most)


def _date(text: str) -> dt.datetime | None:
    # "-3" and "1e3" must not pass for years: a real date has a month's name.
    if not re.search(r"[A-Za-z]{3}", text):
        return None
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)
