"""JSON values into what CEL can hold, weighed on the way; and what CEL gives back into JSON."""

from __future__ import annotations

import dataclasses
import datetime
import math
from typing import TYPE_CHECKING, Any

from workflows.tools.expressions.tokens import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CHARACTERS = 262_144
MOST_ITEMS = 1_000
DEEPEST = 64
# A result may join several inputs; past this it was multiplied.
LONGEST_RESULT = 1_048_576
INT64 = range(-(2**63), 2**63)
# What an item costs in JSON beside its text: a comma and two quotes or brackets.
CHARACTERS_AN_ITEM = 3
# Copying a character is that much cheaper than copying a value.
CHARACTERS_A_NODE = 64


@dataclasses.dataclass(slots=True)
class Load:
    """What was bound: values, characters, the longest list or map among them, and the weight of each name."""

    nodes: int = 0
    characters: int = 0
    longest: int = 0
    by_name: dict[str, int] = dataclasses.field(default_factory=dict)

    @property
    def weight(self) -> int:
        return self.nodes + self.characters // CHARACTERS_A_NODE


def bound(names: Mapping[str, Any], wanted: frozenset[str], text: str) -> tuple[dict[str, Any], Load]:
    """The wanted `names`, as CEL takes them: integers beyond int64 as text, lone surrogates escaped."""
    load = Load()
    variables: dict[str, Any] = {}
    for name in sorted(wanted):
        if name not in names:
            raise ExpressionError("", text, f"{name} isn't known here; known: {', '.join(sorted(names))}")
        before = load.weight
        variables[name] = _in(names[name], load, 0, name, text)
        load.by_name[name] = 1 + load.weight - before
    return variables, load


def _in(value: Any, load: Load, depth: int, name: str, text: str) -> Any:
    load.nodes += 1
    match value:
        case None | bool():
            return value
        case str():
            _count(load, len(value), name, text)
            return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
        case int():
            # Past int64 the library would make an unsigned or a float of it, silently.
            return value if value in INT64 else str(value)
        case float() if math.isfinite(value):
            return value
        case dict() | list() | tuple():
            if depth >= DEEPEST:
                raise ExpressionError("", text, f"{name} is nested deeper than {DEEPEST}")
            if len(value) > MOST_ITEMS:
                raise ExpressionError("", text, f"{name} holds a list or map of {len(value)}; {MOST_ITEMS} are taken")
            load.longest = max(load.longest, len(value))
            _count(load, CHARACTERS_AN_ITEM * len(value), name, text)
            if isinstance(value, dict):
                return {
                    _in(key, load, depth + 1, name, text): _in(item, load, depth + 1, name, text)
                    for key, item in value.items()
                }
            return [_in(item, load, depth + 1, name, text) for item in value]
        case _:
            raise ExpressionError("", text, f"{name} holds a {type(value).__name__}, which is no JSON value")


def _count(load: Load, characters: int, name: str, text: str) -> None:
    load.characters += characters
    if load.characters > MOST_CHARACTERS:
        raise ExpressionError("", text, f"{name} brings the input over {MOST_CHARACTERS} characters")


def out(value: Any, text: str) -> Any:
    """The JSON of a result: timestamps as ISO 8601, whatever JSON hasn't as an error."""
    return _out(value, [0], text)


def _out(value: Any, size: list[int], text: str) -> Any:
    size[0] += len(value) if isinstance(value, str) else 1
    if size[0] > LONGEST_RESULT:
        raise ExpressionError("", text, f"gives more than {LONGEST_RESULT} characters")
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case list():
            return [_out(item, size, text) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _out(item, size, text) for key, item in value.items()}
        case datetime.datetime():
            return value.isoformat().replace("+00:00", "Z")
        case _:
            raise ExpressionError("", text, f"gives a {type(value).__name__}, which is no JSON value")
