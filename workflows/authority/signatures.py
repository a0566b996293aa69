"""Proves that a message came from a source: Standard Webhooks, HMAC-SHA256 over `id.timestamp.body`. For the API.

Our own page: the library that there is keeps its own clock and tolerance, and doesn't tell by how much a clock is off.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hmac
import re
from collections.abc import Mapping

from workflows.authority.keys import Unauthenticated
from workflows.errors import NotFound
from workflows.tools import providers

SOURCE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
EVENT_ID = re.compile(r"[!-~]{1,200}")
# Both ways: a message may wait, and clocks are off. Older ones may be replays of what somebody overheard.
TOLERANCE = dt.timedelta(minutes=5)
PREFIX = "whsec_"


def secrets_of(source: str) -> list[bytes]:
    """The keys of a source, several (by blanks) while they are rotated. Raises `NotFound` where none is set."""
    name = f"HOOK_{source.upper().replace('-', '_')}"
    value = providers.secret(name) if SOURCE.fullmatch(source) else None
    if not value or not value.strip():
        raise NotFound("There is no such source; the operator sets one up by its secret.")
    return [_key(part) for part in value.split()]


def check(headers: Mapping[str, str], body: bytes, keys: list[bytes], *, now: dt.datetime) -> tuple[str, dt.datetime]:
    """(the event's id, when it was sent). Raises `Unauthenticated`; a clock that is off is told by how much."""
    event_id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not EVENT_ID.fullmatch(event_id) or not re.fullmatch(r"[0-9]{1,11}", stamp):
        raise Unauthenticated(
            "The headers webhook-id, webhook-timestamp and webhook-signature must be there, once each."
        )
    content = f"{event_id}.{stamp}.".encode() + body
    made = [base64.b64encode(hmac.digest(key, content, "sha256")).decode() for key in keys]
    given = [part.removeprefix("v1,") for part in headers.get("webhook-signature", "").split() if part[:3] == "v1,"]
    # All are compared: how long it takes tells nothing of which came close.
    matches = [hmac.compare_digest(one.encode(), other.encode()) for one in made for other in given[:10]]
    if not any(matches):
        raise Unauthenticated("No signature (v1) fits the id, the timestamp and the body as they arrived.")
    sent_at = dt.datetime.fromtimestamp(int(stamp), dt.UTC)
    if abs(now - sent_at) > TOLERANCE:
        off = (now - sent_at).total_seconds()
        way = "old" if off > 0 else "ahead of our clock"
        raise Unauthenticated(
            f"It is {abs(off):.0f} s {way}; up to {TOLERANCE.total_seconds():.0f} s either way are taken."
        )
    return event_id, sent_at


def _key(text: str) -> bytes:
    """A secret as the bytes that sign: base64 after its prefix, else its own text."""
    if not text.startswith(PREFIX):
        return text.encode()
    try:
        return base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        return text.encode()
