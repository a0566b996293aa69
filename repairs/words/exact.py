"""An exact call as lines to be read: every value by its path and JSON type, in full or saying what is cut. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repairs.words.marked import _
from workflows.visible import Piece, hidden_in, parts, up_to

VALUE = 400  # characters shown of one value
LINES = 120  # values shown
WHOLE = 300_000  # characters beyond which nobody reads a call: it can be refused, or taken as a file


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One value. `kind` is its JSON type; `origin` says which untrusted content it stems from, "" for none."""

    path: str
    kind: str
    pieces: Sequence[Piece]
    size: int
    block: bool
    cut: bool = False
    hidden: int = 0
    origin: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """`left_out`: values beyond the first ones. `hidden`: codes in all of them, the cut parts included."""

    lines: Sequence[Line]
    left_out: int
    hidden: int
    size: int
    values: int

    @property
    def cut(self) -> bool:
        """Whether something of the call is not on the page."""
        return self.left_out > 0 or any(line.cut for line in self.lines)

    @property
    def too_long(self) -> bool:
        return self.size > WHOLE


def exact(arguments: Any, *, origins: Mapping[str, str] | None = None, whole: bool = False) -> Exact:
    """`origins`: path -> words. With `whole` nothing is cut, unless it is longer than anybody reads."""
    leaves = list(leaves_of(arguments, ""))
    size = sum(len(text) + len(path) for path, _, text in leaves)
    whole = whole and size <= WHOLE
    shown = leaves if whole else leaves[:LINES]
    return Exact(
        lines=[line(*leaf, limit=WHOLE if whole else VALUE, origins=origins or {}) for leaf in shown],
        left_out=len(leaves) - len(shown),
        hidden=sum(hidden_in(path) + hidden_in(text, block="\n" in text) for path, _, text in leaves),
        size=size,
        values=len(leaves),
    )


def line(path: str, kind: str, text: str, *, limit: int, origins: Mapping[str, str]) -> Line:
    block = "\n" in text
    pieces, cut = up_to(limit, parts(text, block=block))
    return Line(
        path=path,
        kind=kind,
        pieces=pieces,
        size=len(text),
        block=block,
        cut=cut,
        hidden=hidden_in(text, block=block),
        origin=origin_of(path, origins),
    )


def origin_of(path: str, origins: Mapping[str, str]) -> str:
    """The words of the path itself, or of what it lies in."""
    found = [words for name, words in origins.items() if path == name or path.startswith(f"{name}.")]
    return "; ".join(found)


def leaves_of(value: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """(path, JSON type, text) of every value, by name: the order in which they were given says nothing."""
    match value:
        case dict() if value:
            for name in sorted(value):
                yield from leaves_of(value[name], f"{path}.{name}" if path else name)
        case list() if value:
            for number, item in enumerate(value):
                yield from leaves_of(item, f"{path}.{number}" if path else str(number))
        case dict():
            yield path, _("empty object"), "{}"
        case list():
            yield path, _("empty list"), "[]"
        case bool():
            yield path, _("true or false"), "true" if value else "false"
        case None:
            yield path, _("null"), "null"
        case int():
            yield path, _("whole number"), str(value)
        case float():
            yield path, _("number with a point"), repr(value)
        case _:
            yield path, _("text"), str(value)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A value that differs between two reads; "" where it wasn't there."""

    path: str
    before: str
    after: str


def changes(before: Any, after: Any) -> list[Change]:
    """What differs, value by value. A change of type alone is a change."""
    old = {path: (kind, text) for path, kind, text in leaves_of(before, "")}
    new = {path: (kind, text) for path, kind, text in leaves_of(after, "")}
    return [
        Change(path=path, before=old.get(path, ("", ""))[1], after=new.get(path, ("", ""))[1])
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
