"""Moments as texts: ISO 8601 with an offset, so that they name one instant."""

from __future__ import annotations

import datetime as dt


def moment(text: str) -> dt.datetime:
    """The instant. Raises `ValueError` for what names none."""
    found = dt.datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} names no instant: it has no offset")
    return found
