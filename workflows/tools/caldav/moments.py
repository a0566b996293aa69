"""The moment of one part of an event, with the place of what is wrong with it."""

from __future__ import annotations

import datetime as dt

from workflows.tools import moments
from workflows.tools.expressions import ExpressionError


def moment(path: str, time: str, zone: str) -> dt.datetime:
    """The aware time. Raises `ExpressionError` where it is no wall time, or stands never or twice in that zone."""
    try:
        return moments.at(time, zone)
    except moments.BadTime as trouble:
        raise ExpressionError(f"{path}.{trouble.of}", zone if trouble.of == "zone" else time, str(trouble)) from None
