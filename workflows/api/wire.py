"""JSON as it leaves: plain values to UTF-8 bytes, and those bytes to a response with its strong tag."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

# Beyond this a JavaScript client would silently read another number (RFC 8259, section 6).
MOST_EXACT = 2**53 - 1


def dumps(data: object) -> bytes:
    return json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def plain(data: object) -> Any:
    """The same with times and ids as text, and integers that a client could misread as text too."""
    match data:
        case None | bool() | str() | float():
            return data
        case int():
            return data if -MOST_EXACT <= data <= MOST_EXACT else str(data)
        case dt.datetime():
            return moment(data)
        case Mapping():
            return {str(name): plain(value) for name, value in data.items()}
        case list() | tuple():
            return [plain(item) for item in data]
        case _:
            return str(data)


def moment(at: dt.datetime) -> str:
    """ISO 8601 in UTC with microseconds."""
    return at.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def tag(body: bytes) -> str:
    """A strong entity tag: differs as soon as a byte of this representation does."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def respond(data: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return respond_bytes(dumps(data), status=status, headers=headers)


def respond_bytes(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    response = HttpResponse(body, status=status, content_type="application/json", headers=dict(headers or {}))
    keep_private(response)
    return response


def keep_private(response: HttpResponse) -> None:
    """No cache on the way may answer one agent with what was said to another."""
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Vary"] = "Authorization, Prefer"
