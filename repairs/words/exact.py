"""An exact call as lines to be read: every value by its path and JSON type, in full or saying what is cut. Pure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repairs.words.marked import _, said
from workflows.visible import Piece, hidden_in, parts, up_to

Where = tuple[str | int, ...]

VALUE = 400  # characters shown of one value
NAME = 200  # and of the path that leads to it
LINES = 120  # values shown
WHOLE = 300_000  # characters beyond which nobody reads a call: it can be refused, or taken as a file


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One value. `kind` is its JSON type; `origin` says which untrusted content it stems from, "" for none."""

    path: str
    name: Sequence[Piece]
    name_cut: bool
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
        return self.left_out > 0 or any(line.cut or line.name_cut for line in self.lines)

    @property
    def too_long(self) -> bool:
        return self.size > WHOLE


def exact(arguments: Any, *, origins: Mapping[str, str] | None = None, whole: bool = False) -> Exact:
    """`origins`: path -> words. With `whole` nothing is cut, unless it is longer than anybody reads."""
    leaves = list(leaves_of(arguments, ()))
    size = sum(len(text) + len(path_of(where)) for where, _, text in leaves)
    whole = whole and size <= WHOLE
    shown = leaves if whole else leaves[:LINES]
    return Exact(
        lines=[line(*leaf, whole=whole, origins=origins or {}) for leaf in shown],
        left_out=len(leaves) - len(shown),
        hidden=sum(hidden_in(path_of(where)) + hidden_in(text, block="\n" in text) for where, _, text in leaves),
        size=size,
        values=len(leaves),
    )


def line(where: Where, kind: str, text: str, *, whole: bool, origins: Mapping[str, str]) -> Line:
    block, path = "\n" in text, path_of(where)
    pieces, cut = up_to(WHOLE if whole else VALUE, parts(text, block=block))
    name, name_cut = up_to(WHOLE if whole else NAME, parts(path))
    return Line(
        path=path,
        name=name,
        name_cut=name_cut,
        kind=kind,
        pieces=pieces,
        size=len(text),
        block=block,
        cut=cut,
        hidden=hidden_in(text, block=block),
        origin=origin_of(".".join(map(str, where)), origins),
    )


def origin_of(path: str, origins: Mapping[str, str]) -> str:
    """The words of the path itself, or of what it lies in."""
    found = [words for name, words in origins.items() if path == name or path.startswith(f"{name}.")]
    return "; ".join(found)


def path_of(where: Where) -> str:
    """No two places have one path: a name that could be taken for a path, or for a number in a list, is quoted."""
    return ".".join(part if isinstance(part, str) and not _MISTAKEN.search(part) else quoted(part) for part in where)


def quoted(part: str | int) -> str:
    return str(part) if isinstance(part, int) else '"{}"'.format(part.replace('"', '""'))


_MISTAKEN = re.compile(r'[."]|^[0-9]*$')


def leaves_of(value: Any, where: Where) -> Iterator[tuple[Where, str, str]]:
    """(place, JSON type, text) of every value, by name: the order in which they were given says nothing."""
    match value:
        case dict() if value:
            for name in sorted(value):
                yield from leaves_of(value[name], (*where, name))
        case list() if value:
            for number, item in enumerate(value):
                yield from leaves_of(item, (*where, number))
        case dict():
            yield where, _("empty object"), "{}"
        case list():
            yield where, _("empty list"), "[]"
        case bool():
            yield where, _("true or false"), "true" if value else "false"
        case None:
            yield where, _("null"), "null"
        case int():
            yield where, _("whole number"), str(value)
        case float():
            yield where, _("number with a point"), repr(value)
        case _:
            yield where, _("text"), str(value)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A value that differs between two reads; "" where it wasn't there."""

    path: str
    before: str
    after: str


def changes(before: Any, after: Any) -> list[Change]:
    """What differs, value by value. A change of type alone is a change, and says the types."""
    old = {path_of(where): (kind, text) for where, kind, text in leaves_of(before, ())}
    new = {path_of(where): (kind, text) for where, kind, text in leaves_of(after, ())}
    return [
        Change(path=path, before=told(old.get(path), new.get(path)), after=told(new.get(path), old.get(path)))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]


def told(one: tuple[str, str] | None, other: tuple[str, str] | None) -> str:
    if one is None:
        return ""
    kind, text = one
    text = text or '""'
    return f"{text} ({said(kind)})" if other and other[1] == one[1] else text
