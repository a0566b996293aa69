"""What a call is aimed at: recipients, accounts to be paid, whatever a schema marks as a target. Plain values only.

`x-target: recipient` (or `payment`, or any other word) in a tool's JSON Schema marks an argument; the receivers of a
mail and the attendees of an event are targets by their kind of tool.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError

if TYPE_CHECKING:
    from workflows.tools.base import Tool
    from workflows.tools.call import Call

MARK = "x-target"
BY_KIND = {"smtp": ("to", "cc"), "caldav": ("attendees",)}
DEEPEST = 16  # of a schema; references may lead round
EACH = "*"  # in a place: each item, or each field that isn't named

NAMED = re.compile(r"[^<>]*<([^<>]+)>")  # a display name in front of an address says nothing of where it goes

Place = tuple[str, ...]

_known: weakref.WeakKeyDictionary[Tool, list[tuple[Place, str]]] = weakref.WeakKeyDictionary()


def targets(tool: Tool, call: Call) -> list[dict[str, str]]:
    """`[{"path", "kind", "value"}]` of one call, each value once a kind, in the order in which they stand."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    if tool not in _known:
        _known[tool] = places(tool.spec["arguments"])
    for place, kind in _known[tool]:
        for path, value in _at(call.arguments, place, ()):
            found.setdefault((kind, value), {"path": path, "kind": kind, "value": value})
    for name in BY_KIND.get(tool.spec["kind"], ()):
        for value in _receivers(tool.spec["execute"].get(name), tool, call):
            found.setdefault(("recipient", value), {"path": name, "kind": "recipient", "value": value})
    return list(found.values())


def places(schema: Any) -> list[tuple[Place, str]]:
    """Where a schema marks targets, and of which kind."""
    return list(dict.fromkeys(_places(schema, schema, (), 0)))


def _places(schema: Any, root: Any, place: Place, depth: int) -> Iterator[tuple[Place, str]]:
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return
    if isinstance(kind := schema.get(MARK), str):
        yield place, kind
    for name, part in (schema.get("properties") or {}).items():
        yield from _places(part, root, (*place, name), depth + 1)
    for name in ("items", "additionalProperties"):
        yield from _places(schema.get(name), root, (*place, EACH), depth + 1)
    for name in ("allOf", "anyOf", "oneOf", "prefixItems"):
        below = (*place, EACH) if name == "prefixItems" else place
        for part in schema.get(name) or ():
            yield from _places(part, root, below, depth + 1)
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        yield from _places(_followed(root, reference), root, place, depth + 1)


def _followed(root: Any, reference: str) -> Any:
    for part in reference[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        root = root.get(name) if isinstance(root, Mapping) else None
    return root


def _at(value: Any, place: Place, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(path, text) of each value at a place; all there is below it, where it is a list or a map."""
    if not place:
        if isinstance(value, Mapping | list):
            for name, part in _parts(value):
                yield from _at(part, (), (*path, name))
        elif value is not None:
            yield ".".join(path), _text(value)
    elif place[0] == EACH and isinstance(value, Mapping | list):
        for name, part in _parts(value):
            yield from _at(part, place[1:], (*path, name))
    elif isinstance(value, Mapping) and place[0] in value:
        yield from _at(value[place[0]], place[1:], (*path, place[0]))


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    return ((str(name), part) for name, part in pairs)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else expressions.text_of(value)


def _receivers(declared: Any, tool: Tool, call: Call) -> Iterator[str]:
    """Addresses as they would be sent to; what can't be made is no target: the call can't be made either."""
    try:
        filled = expressions.fill(declared or [], tool.names(call))
    except ExpressionError:
        return
    for one in filled if isinstance(filled, list) else [filled]:
        if isinstance(one, str):
            for part in one.split(","):
                named = NAMED.fullmatch(part.strip())
                if address := (named[1] if named else part).strip().lower():
                    yield address
