"""One read file: its value, where each part of it stands, and the flaws that say so."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

from workflows.errors import Flaw, Invalid, shown

DEEPEST = 48
LONGEST_PATH = 300
# Longer numbers are somebody's identifier and belong into quotes.
LONGEST_NUMBER = 40
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")

Where = tuple[str | int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedFlaw(Flaw):
    """A flaw with its place in a file; line and column count from 1."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        path = f"{self.path}: " if self.path else ""
        return f"{self.file}:{self.line}:{self.column}: {path}{self.message} (here: {shown(self.value)})"


@dataclasses.dataclass(slots=True)
class Document:
    """The value of one file, and where each part of it begins, so that later errors can say so."""

    file: str
    value: Any = None
    places: dict[Where, tuple[int, int]] = dataclasses.field(default_factory=dict)

    def flaw(self, where: Where, value: object, message: str) -> PlacedFlaw:
        """A flaw at `where`, or at the nearest part around it that stands in the file."""
        known = where
        while known and known not in self.places:
            known = known[:-1]
        line, column = self.places.get(known, (1, 1))
        return PlacedFlaw(dotted(where), value, message, self.file, line, column)


def dotted(where: Where) -> str:
    """A path for people, bounded: `tools.crm.create_contact.execute.url`, `workflows.onboarding.steps.0.tool`."""
    path = ".".join(map(str, where))
    return path if len(path) <= LONGEST_PATH else path[:LONGEST_PATH] + "…"


def refused(document: Document, line: int, column: int, value: object, message: str, where: Where = ()) -> Invalid:
    flaw = PlacedFlaw(dotted(where), value, message, document.file, line, column)
    return Invalid(f"{document.file} can't be read", [flaw])


def line_of(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def number(text: str) -> int | float:
    """The number, if it is finite and short enough for one; else `ValueError`."""
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"is a number of more than {LONGEST_NUMBER} digits; put it into quotes")
    if INTEGER.fullmatch(text):
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value


def unfit(text: str) -> str | None:
    """Why the database could not keep this text; None where it can."""
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii() and any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        return "holds half of a surrogate pair"
    return None
