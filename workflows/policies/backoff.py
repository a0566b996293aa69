"""How long to wait before the next send or look. Pure, and the same for the same effect, so that tests can say it."""

from __future__ import annotations

import datetime as dt
import hashlib

LOOK_CAP = 60.0  # an authority that can't be reached is asked at least once a minute
RETRY_AFTER_CAP = 3600.0  # a provider may ask for more; then the retry window ends it anyway
SPREAD = 0.25  # up to a quarter is added, so that effects refused together don't come back together


def seconds(first: float, count: int, cap: float, *, salt: str) -> float:
    """`first` doubled `count` times, capped, then spread by up to a quarter. `count` 0 is the first wait."""
    base = min(first * 2.0 ** min(count, 30), cap)
    return base * (1 + SPREAD * _share(salt, count))


def after(now: dt.datetime, first: float, count: int, cap: float, *, salt: str) -> dt.datetime:
    """When to send again: at any time within the wait. Sends that failed together are spread over all of it."""
    return now + dt.timedelta(seconds=min(first * 2.0 ** min(count, 30), cap) * _share(salt, count))


def _share(salt: str, count: int) -> float:
    return int.from_bytes(hashlib.sha256(f"{salt}:{count}".encode()).digest()[:4]) / 2**32
