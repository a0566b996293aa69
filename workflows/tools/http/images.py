"""What is kept of an answer as the image of what was there before: absent, null, "" and [] stay four things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from workflows.tools import expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

# A field below a name, and nothing else: only of such a one can absence be told from an error.
FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")


def kept(declared: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """The image: a field that isn't there is left out of it, so that `has(before.title)` can tell. Raises
    `ExpressionError` for everything else that has no value."""
    there = {name: value for name, value in declared.items() if not _absent(value, names)}
    image: dict[str, Any] = expressions.fill(there, names, "keep")
    return image


def _absent(value: Any, names: Mapping[str, Any]) -> bool:
    template = expressions.parse(value) if isinstance(value, str) else None
    if template is None or not template.whole or not FIELD.fullmatch(template.sources[0]):
        return False
    return not expressions.compile(f"has({template.sources[0]})", names).holds(names)
