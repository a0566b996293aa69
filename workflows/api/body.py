"""Reads a request's body as one JSON object, strictly: what PostgreSQL or other clients could misread is refused."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from workflows.errors import Flaw, Invalid, TooLarge, shown
from workflows.tools import schema as json_schema

DEEPEST = 64  # levels; arguments of real tools have under ten, and what walks them must not run out of stack
LONGEST_NUMBER = 400  # digits; past about 4,300 Python refuses, and long before that no provider reads it
HEARD_OUT = 4 * 1024 * 1024  # bytes beyond the limit that are read and dropped, so that the refusal arrives
CHUNK = 64 * 1024
MOST_FLAWS = 20  # a person mends a few at a time
REFUSED = "The body is refused; nothing was written."


def read(request: HttpRequest, schema: dict[str, Any], *, may_be_empty: bool = False) -> dict[str, Any]:
    """The body, which fits `schema`. Raises Invalid with the path of each flaw, or TooLarge."""
    data = raw(request)
    if not data and may_be_empty:
        return {}
    if data:
        _check_type(request)
    body = parse(data)
    found = json_schema.flaws(schema, body, root="body")
    if flaws := [Flaw(f.path.removeprefix("body."), f.value, f.message) for f in found]:
        raise Invalid(REFUSED, flaws)
    return body


def parse(data: bytes) -> dict[str, Any]:
    """One JSON object in UTF-8. Raises Invalid; the paths of its flaws begin with the body's own fields."""
    text = _text(data)
    if not text.strip():
        raise _refused("body", text[:80], "is missing; send a JSON object")
    try:
        body = json.loads(text, object_pairs_hook=_object, parse_constant=_Bad, parse_float=_float, parse_int=_whole)
    except RecursionError as error:
        raise _refused("body", text[:80], f"is nested deeper than {DEEPEST} levels") from error
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 20) : error.pos + 20]
        where = f"line {error.lineno} column {error.colno}"
        raise _refused("body", near, f"isn't JSON: {error.msg} at {where}") from error
    if not isinstance(body, dict):
        raise _refused("body", body if not isinstance(body, _Bad) else body.text, "must be a JSON object")
    if flaws := list(itertools.islice(_flaws(body), MOST_FLAWS)):
        raise Invalid(REFUSED, flaws)
    return body


def unreadable(text: str) -> str:
    """What keeps a text from being stored or sent, or "" if nothing does."""
    if "\x00" in text:
        return "holds the character NUL (U+0000), which can't be stored; leave it out"
    if any("\ud800" <= c <= "\udfff" for c in text):
        return "holds half of a surrogate pair, which is no character; send whole characters"
    return ""


def _check_type(request: HttpRequest) -> None:
    kind, _, rest = request.META.get("CONTENT_TYPE", "").partition(";")
    charset = rest.lower().replace(" ", "").replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in ("", "charset=utf-8", "charset=utf8"):
        raise _refused("Content-Type", request.META.get("CONTENT_TYPE", ""), "must be application/json, in UTF-8")


def raw(request: HttpRequest) -> bytes:
    """At most one byte more than is taken is kept, whether the length was told or the body comes in chunks."""
    most = settings.MAKEGOOD_MAX_BODY
    told = request.META.get("CONTENT_LENGTH") or ""
    stream: Any = request
    if not told and request.META.get("HTTP_TRANSFER_ENCODING"):
        # Django reads a body of unknown length as empty; the server says whether its stream ends by itself.
        if not request.META.get("wsgi.input_terminated"):
            raise _refused("Content-Length", "", "is missing, and this server takes no chunked bodies: send it")
        stream = request.META["wsgi.input"]
    data = b"".join(_parts(stream, most + 1))
    if len(data) > most:
        # Who still sends when the connection closes sees only that it broke; so a part of the rest is heard out.
        for _ in _parts(stream, HEARD_OUT):
            pass
        raise TooLarge(f"The body is larger than the {most} bytes that are taken. Send large content by reference.")
    return data


def _parts(stream: Any, most: int) -> Iterator[bytes]:
    while most > 0 and (part := stream.read(min(most, CHUNK))):
        yield part
        most -= len(part)


def _text(data: bytes) -> str:
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise _refused("body", data[:4].hex(" "), "begins with a byte order mark; send plain UTF-8 without one")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        near = data[error.start : error.start + 4].hex(" ")
        raise _refused("body", near, f"isn't UTF-8 at byte {error.start}; send UTF-8") from error


@dataclasses.dataclass(frozen=True, slots=True)
class _Bad:
    """Stands where a number was that JSON doesn't have, or nobody could store, until its path is known."""

    text: str


class _Twice(dict[str, Any]):
    """An object that named a field twice; which of both was meant nobody can tell."""

    name = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _Twice(found)
    twice.name = Counter(name for name, _ in pairs).most_common(1)[0][0]
    return twice


def _whole(text: str) -> int | _Bad:
    return int(text) if len(text) <= LONGEST_NUMBER else _Bad(text)


def _float(text: str) -> float | _Bad:
    value = float(text) if len(text) <= LONGEST_NUMBER else math.inf
    return value if math.isfinite(value) else _Bad(text)


def _flaws(body: dict[str, Any]) -> Iterator[Flaw]:
    """In the order of the body, without recursion: how deep it goes is the sender's choice."""
    todo: list[tuple[str, Any, int]] = [("", body, 1)]
    while todo:
        path, value, depth = todo.pop()
        if isinstance(value, str):
            if why := unreadable(value):
                yield Flaw(path, value, why)
        elif isinstance(value, _Bad):
            yield Flaw(path, value.text[:80], f"must be a finite number of at most {LONGEST_NUMBER} digits")
        elif isinstance(value, dict | list) and depth > DEEPEST:
            yield Flaw(path, "…", f"is nested deeper than {DEEPEST} levels")
        elif isinstance(value, dict):
            if isinstance(value, _Twice):
                yield Flaw(_join(path, value.name), value[value.name], "stands twice in its object; send it once")
            for name in value:
                if why := unreadable(name):
                    yield Flaw(_join(path, name), name, f"as a name {why}")
            todo += [(_join(path, name), value[name], depth + 1) for name in reversed(value)]
        elif isinstance(value, list):
            todo += [(f"{path}.{i}", value[i], depth + 1) for i in reversed(range(len(value)))]


def _join(path: str, name: str) -> str:
    name = name if name.isprintable() else shown(name)[1:-1]
    return f"{path}.{name}" if path else name


def _refused(path: str, value: object, message: str) -> Invalid:
    return Invalid(REFUSED, [Flaw(path, value, message)])
