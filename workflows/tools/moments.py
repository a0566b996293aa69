"""Moments: instants as texts, and wall-clock times in a zone, of which two kinds can't be booked without guessing."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo

FIRST, LAST = dt.datetime.min.replace(tzinfo=dt.UTC), dt.datetime.max.replace(tzinfo=dt.UTC)
WALL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")


class BadTime(ValueError):
    """`of`: "time" or "zone"."""

    def __init__(self, of: str, message: str) -> None:
        self.of = of
        super().__init__(message)


def moment(text: str) -> dt.datetime:
    """The instant that an ISO 8601 text names, in UTC. Raises `ValueError` for what names none.

    One whose offset leads out of the years that there are is the first or the last: a database keeps what nobody could
    read any more."""
    found = dt.datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} names no instant: it has no offset")
    try:
        return found.astimezone(dt.UTC)
    except OverflowError:
        return FIRST if found.year == dt.MINYEAR else LAST


def at(time: str, zone: str) -> dt.datetime:
    """The aware time. Raises `BadTime` where it is no wall time, or stands never or twice in that zone."""
    if not WALL.fullmatch(time):
        raise BadTime("time", "must be a wall-clock time like 2026-03-29T14:00, without an offset")
    try:
        wall = dt.datetime.fromisoformat(time)
    except ValueError as error:
        raise BadTime("time", f"is no time: {error}") from None
    place = _zone(zone)
    first, second = wall.replace(tzinfo=place), wall.replace(tzinfo=place, fold=1)
    if first.astimezone(dt.UTC).astimezone(place).replace(tzinfo=None) != wall:
        raise BadTime("time", f"doesn't exist in {zone}: the clocks skip it that day")
    if first.utcoffset() != second.utcoffset():
        raise BadTime("time", f"stands twice in {zone}: the clocks are set back that day")
    return first


def instant(time: str, zone: str) -> str:
    """2026-11-03T09:00 in America/New_York -> 2026-11-03T14:00:00Z. Raises `BadTime`."""
    return at(_text(time), _text(zone)).astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


def told(time: dt.datetime) -> dict[str, str]:
    """Wall time, zone and instant of an aware time: rules of zones change, and then it matters which was meant."""
    at_utc = time.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
    return {"wall": time.replace(tzinfo=None).isoformat(), "zone": str(time.tzinfo), "instant": at_utc}


def wall(text: str, zone: str) -> str:
    """The wall-clock time of an instant in a zone, to the second. Raises `ValueError`."""
    return moment(_text(text)).astimezone(_zone(_text(zone))).replace(tzinfo=None).isoformat(timespec="seconds")


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise BadTime("zone", "is no IANA time zone, such as Europe/Berlin") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"needs a string, got {type(value).__name__}")
    return value
