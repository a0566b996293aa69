"""Reads the parameters of a query as strictly as a body: unknown, repeated or unreadable ones are refused."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest

from workflows.api.body import unreadable
from workflows.errors import Flaw, Invalid

REFUSED = "The query is refused."
USUAL_PAGE = 50
LARGEST_PAGE = 200  # runs; a page is read in a constant number of queries, but its rows are still held in memory


def parameters(request: HttpRequest, known: Collection[str]) -> dict[str, str]:
    """Name to value. Raises Invalid that names each parameter at fault."""
    found: dict[str, str] = {}
    flaws: list[Flaw] = []
    for part in filter(None, request.META.get("QUERY_STRING", "").split("&")):
        name, value, why = _part(part)
        if not why and name not in known:
            # A misspelt filter that is passed over would answer with everything.
            why = f"isn't known here; known: {', '.join(sorted(known))}"
        if not why and name in found:
            why = "is given twice; give it once"
        if why:
            flaws.append(Flaw(name, value, why))
        found[name] = value
    if flaws:
        raise Invalid(REFUSED, flaws)
    return found


def limit(given: dict[str, str]) -> int:
    """How many rows a page has."""
    text = given.get("limit", str(USUAL_PAGE))
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= LARGEST_PAGE:
        raise Invalid(REFUSED, [Flaw("limit", text, f"must be a whole number from 1 to {LARGEST_PAGE}")])
    return int(text)


def one_of(given: dict[str, str], name: str, words: Collection[str]) -> str:
    """One of the words, or "" where it isn't asked for."""
    value = given.get(name)
    if value is not None and value not in words:
        raise Invalid(REFUSED, [Flaw(name, value, f"must be one of: {', '.join(words)}")])
    return value or ""


def moment(given: dict[str, str], name: str) -> dt.datetime | None:
    """A moment with its offset from UTC; without one it would mean another moment to every reader."""
    value = given.get(name)
    if value is None:
        return None
    try:
        at = dt.datetime.fromisoformat(value)
        if at.tzinfo is not None:
            return at.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid(REFUSED, [Flaw(name, value, "must be a moment as in 2026-03-01T09:30:00Z (a + is written %2B)")])


def _part(part: str) -> tuple[str, str, str]:
    """Name, value, and what is wrong with them."""
    raw = [unquote_to_bytes(side.replace("+", " ").encode("latin-1", "replace")) for side in part.split("=", 1)]
    try:
        name, value = raw[0].decode(), (raw[1].decode() if len(raw) > 1 else "")
    except UnicodeDecodeError:
        name = raw[0].decode("utf-8", "backslashreplace")
        return name, b"=".join(raw).hex(" ")[:60], "isn't UTF-8"
    return name, value, unreadable(name) or unreadable(value)
