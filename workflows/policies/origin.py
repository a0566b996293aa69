"""Which arguments stem from untrusted content, by where they were taken from and by what they say. Pure.

Untrusted are the results of tools whose environment is, and fields of an input that its schema marks `x-untrusted`.
An argument stems from such content if its template refers to it, or if it says the same: letters and digits compared,
case and everything between them passed over, so that an account number with other blanks is still that number.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Where = tuple[str | int, ...]

LONG_ENOUGH = 5  # letters and digits: anything shorter occurs in every text by chance, and must be a whole value
INSIDE = 8  # the same for an untrusted value inside a longer argument
MOST_TEXT = 65_536  # characters of untrusted content that are compared; beyond it every argument counts as untrusted
MOST_VALUES = 200  # of arguments; the same


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """Untrusted content: `path` is how an expression refers to it, `steps.read.result` or `input.message`."""

    path: tuple[str, ...]
    value: Any

    @property
    def name(self) -> str:
        return ".".join(self.path)


def of_results(steps: Iterable[Any]) -> list[Source]:
    """The results of steps whose tool works where nothing can be trusted."""
    return [
        Source(("steps", step.name, "result"), step.result)
        for step in steps
        if step.result is not None and step.tool.profile.get("environment") == "untrusted"
    ]


def of_input(schema: Mapping[str, Any], value: Any, path: tuple[str, ...] = ("input",)) -> Iterator[Source]:
    """The parts of an input that its schema marks."""
    if schema.get("x-untrusted") is True:
        yield Source(path, value)
    elif isinstance(value, Mapping):
        for name, part in (schema.get("properties") or {}).items():
            if name in value and isinstance(part, Mapping):
                yield from of_input(part, value[name], (*path, name))
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for item in value:
            yield from of_input(schema["items"], item, path)


def stems(
    arguments: Any, sources: Sequence[Source], references: Mapping[Where, Iterable[Sequence[Any]]]
) -> list[dict[str, str]]:
    """`[{"path": "to", "from": "steps.read.result"}]`, in the order of the arguments. `references`: for each place of
    the argument's template the paths that its expressions read."""
    if not sources:
        return []
    leaves = list(leaves_of(arguments))
    texts = [(source, [plain(leaf) for _, leaf in leaves_of(source.value)]) for source in sources]
    if len(leaves) > MOST_VALUES or sum(len(part) for _, parts in texts for part in parts) > MOST_TEXT:
        return [{"path": dotted(where), "from": sources[0].name} for where, _ in leaves]
    found = []
    for where, value in leaves:
        source = _referred(where, references, sources) or _said(plain(value), texts)
        if source is not None:
            found.append({"path": dotted(where), "from": source.name})
    return found


def says(value: Any, sources: Sequence[Source]) -> bool:
    """Whether one value is said in untrusted content."""
    return _said(plain(value), [(s, [plain(leaf) for _, leaf in leaves_of(s.value)]) for s in sources]) is not None


def leaves_of(value: Any, where: Where = ()) -> Iterator[tuple[Where, Any]]:
    """Each string and number with its place. True, false and null say nothing that somebody could plant."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from leaves_of(part, (*where, name))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from leaves_of(part, (*where, number))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield where, value


def plain(value: Any) -> str:
    """Its letters and digits alone, in one form of each."""
    text = unicodedata.normalize("NFKC", str(value)).casefold()
    return "".join(filter(str.isalnum, text))


def dotted(where: Where) -> str:
    return ".".join(map(str, where))


def _referred(
    where: Where, references: Mapping[Where, Iterable[Sequence[Any]]], sources: Sequence[Source]
) -> Source | None:
    """A template at this place, or around it, that reads a source, a part of it, or what it is part of."""
    for length in range(len(where), -1, -1):
        for path in references.get(where[:length], ()):
            for source in sources:
                if all(b is None or a == b for a, b in zip(source.path, path, strict=False)):
                    return source
    return None


def _said(value: str, texts: Sequence[tuple[Source, list[str]]]) -> Source | None:
    if not value:
        return None
    for source, parts in texts:
        for part in parts:
            whole = value == part
            quoted = len(value) >= LONG_ENOUGH and value in part
            around = len(part) >= INSIDE and part in value
            if whole or quoted or around:
                return source
    return None
