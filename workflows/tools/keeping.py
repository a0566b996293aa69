"""Foreign values as the database can keep them: nothing lost, nothing dropped, and what is cut says so."""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 64  # levels, as of what agents send: whoever reads a value again must not run out of stack
# Enough to see what a provider meant; the digest stands for the rest.
LONGEST_TEXT = 2048


def keepable(value: Any, level: int = 0) -> Any:
    """The JSON value with what PostgreSQL's jsonb refuses written out visibly: NUL as \\u0000, lone surrogates too; and
    what is nested deeper than `DEEPEST` as its JSON text."""
    match value:
        case str():
            return value if _fits(value) else _escaped(value)
        case dict() | list() | tuple() if level > DEEPEST:
            return keepable(json.dumps(value, ensure_ascii=False, default=str))
        case dict():
            return {keepable(key): keepable(item, level + 1) for key, item in value.items()}
        case list() | tuple():
            return [keepable(item, level + 1) for item in value]
        case _:
            return value


def excerpt(data: bytes) -> dict[str, Any]:
    """The beginning of foreign bytes as text, saying whether it was cut or escaped."""
    text = data[: LONGEST_TEXT * 4].decode("utf-8", "backslashreplace")
    kept: dict[str, Any] = {"text": keepable(text[:LONGEST_TEXT])}
    if len(text) > LONGEST_TEXT or len(data) > LONGEST_TEXT * 4:
        kept |= {"cut": True, "bytes": len(data)}
    if kept["text"] != text[:LONGEST_TEXT] or not _is_utf8(data):
        kept["escaped"] = True
    return kept


def sentence(text: str, limit: int = 200) -> str:
    """A foreign text as part of a reason: one line, printable, bounded."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _fits(text: str) -> bool:
    return "\0" not in text and (text.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in text))


def _escaped(text: str) -> str:
    return text.replace("\0", "\\u0000").encode("utf-8", "backslashreplace").decode()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
