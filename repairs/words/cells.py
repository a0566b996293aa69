"""What may stand in a cell of a table for spreadsheets: nothing that a program would take for a formula. Pure."""

from __future__ import annotations

import datetime as dt
import json
import re
import unicodedata
from decimal import Decimal

from workflows.visible import visible

TRIGGERS = "=+-@\t\r\n"
# A program that parts cells at semicolons begins a cell there.
_INNER = re.compile(r"(;\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\u2212])")


def cell(value: object) -> str | int | Decimal:
    """Numbers stay numbers; all else is text, with an apostrophe before what would be a formula, and with codes for
    what can't be seen."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | Decimal():
            return value
        case dt.datetime():
            return value.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
        case dict() | list():
            return tame(json.dumps(value, ensure_ascii=False, default=str))
        case _:
            return tame(str(value))


def tame(text: str) -> str:
    shown = _INNER.sub(r"\1'", visible(text))
    return f"'{shown}" if begins_formula(text) or begins_formula(shown) else shown


def begins_formula(text: str) -> bool:
    """Also after blanks and what can't be seen, and in wide or other forms of the same signs."""
    for char in text:
        if char in TRIGGERS or unicodedata.normalize("NFKC", char)[:1] in TRIGGERS or char == "\u2212":
            return True
        if not char.isspace() and unicodedata.category(char) not in ("Cc", "Cf"):
            return False
    return False
