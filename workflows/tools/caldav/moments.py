"""Wall-clock times in a zone, and the two kinds of them that no calendar can hold without guessing."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo

from workflows.tools.expressions import ExpressionError

WALL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")


def moment(path: str, time: str, zone: str) -> dt.datetime:
    """The aware time. Raises `ExpressionError` where it is no wall time, or stands never or twice in that zone."""
    if not WALL.fullmatch(time):
        raise ExpressionError(
            f"{path}.time", time, "must be a wall-clock time like 2026-03-29T14:00, without an offset"
        )
    try:
        wall = dt.datetime.fromisoformat(time)
    except ValueError as error:
        raise ExpressionError(f"{path}.time", time, f"is no time: {error}") from None
    try:
        place = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ExpressionError(f"{path}.zone", zone, "is no IANA time zone, such as Europe/Berlin") from None
    first, second = wall.replace(tzinfo=place), wall.replace(tzinfo=place, fold=1)
    if first.astimezone(dt.UTC).astimezone(place).replace(tzinfo=None) != wall:
        raise ExpressionError(f"{path}.time", time, f"doesn't exist in {zone}: the clocks skip it that day")
    if first.utcoffset() != second.utcoffset():
        raise ExpressionError(f"{path}.time", time, f"stands twice in {zone}: the clocks are set back that day")
    return first
