"""The filter "today" of lists: the day of the viewer's zone, half open; one condition shows, counts and exports.

Times are stored in UTC; a day there would be another one than the page's times tell.
"""

from __future__ import annotations

import datetime as dt
import uuid

from django.db.models import Q
from django.utils.timezone import now

from repairs.words import clock

TODAY = "today"  # the one value that `day` takes in addresses
APART = dt.timedelta(hours=1)  # how far clocks of ours may be apart: an id tells its maker's, a column the database's


def today(field: str, *, by_id: bool = False) -> Q:
    """Rows of the viewer's day. `by_id`: ids tell when they were made, so what is older is passed over by the index."""
    begin, end = clock.day(now())
    wanted = Q(**{f"{field}__gte": begin, f"{field}__lt": end})
    return wanted & Q(id__gte=first_id(begin - APART)) if by_id else wanted


def day_told() -> str:
    """Which day that is and whose, for a record that others read later."""
    return clock.said(now(), "%Y-%m-%d")


def first_id(moment: dt.datetime) -> uuid.UUID:
    """Below every id made from then on: a UUIDv7 begins with its milliseconds."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)
