"""Finds in a list of things the one that a natural key means, under the equality that its tool declares.

What is equal only under a weaker rule than the declared ones is told apart: a person says whether it is the same.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

ITEMS = "body.items"
RULES = ("trim", "nfc", "ascii_case", "case")
WEAKEST = ("trim", "nfc", "case")  # no mail server is bound to fold what stands after a plus, so nothing here does


def matched(match: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, list[Any]]:
    """`matches`: items equal to what is wanted; `near`: those equal only where more is overlooked. Raises
    `ExpressionError`."""
    wanted = expressions.text_of(expressions.fill(match["wants"], names))
    items = expressions.compile(match["items"], names).run(names)
    if not isinstance(items, list):
        raise ExpressionError("match.items", match["items"], "gives no list")
    found: dict[str, list[Any]] = {"matches": [], "near": []}
    for item in items:
        texts = [text for field in match["fields"] for text in _texts(item, field)]
        if any(alike(text, wanted, match["rules"]) for text in texts):
            found["matches"].append(item)
        elif any(alike(text, wanted, WEAKEST) for text in texts):
            found["near"].append(item)
    return found


def alike(one: str, other: str, rules: Collection[str]) -> bool:
    return canonical(one, rules) == canonical(other, rules)


def canonical(text: str, rules: Collection[str]) -> str:
    """The text as it is compared, never as it is sent."""
    if "trim" in rules:
        text = text.strip()
    if "nfc" in rules:
        text = unicodedata.normalize("NFC", text)
    if "ascii_case" in rules:
        text = "".join(c.lower() if c.isascii() else c for c in text)
    if "case" in rules:
        text = text.casefold()
    return unicodedata.normalize("NFC", text) if "nfc" in rules else text


def _texts(item: Any, field: str) -> Iterator[str]:
    """What stands in a field, `address.mail` say; a list holds several names of one thing."""
    value = item
    for name in field.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield one
