"""JSON, with the same refusals as YAML: keys twice, numbers that are none, texts that the database can't keep."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from workflows.errors import shown
from workflows.tools.reading.documents import DEEPEST, line_of, number, refused, unfit

if TYPE_CHECKING:
    from workflows.tools.reading.documents import Document


def read(document: Document, text: str) -> None:
    """Fills the document from JSON. Raises `Invalid`."""
    try:
        document.value = json.loads(
            text, object_pairs_hook=_once, parse_constant=number, parse_float=number, parse_int=number
        )
        _fit(document.value)
    except _Twice as error:
        line, column = _second(text, error.key)
        raise refused(document, line, column, error.key, "stands in one object twice; a key may stand once") from None
    except json.JSONDecodeError as error:
        raise refused(document, error.lineno, error.colno, line_of(text, error.lineno), error.msg) from None
    except RecursionError:
        raise refused(document, 1, 1, "…", f"is nested deeper than {DEEPEST}") from None
    except ValueError as error:
        raise refused(document, 1, 1, "…", str(error)) from None


class _Twice(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _once(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in items:
        if key in found:
            raise _Twice(key)
        found[key] = item
    return found


def _fit(value: Any, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise ValueError(f"is nested deeper than {DEEPEST}")
    if isinstance(value, str) and (trouble := unfit(value)) is not None:
        raise ValueError(f"{shown(value)} {trouble}")
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    for part in parts:
        _fit(part, depth + 1)


def _second(text: str, key: str) -> tuple[int, int]:
    """Where the key stands for the second time in the file: near enough to be found by a person."""
    found = [match.start() for match in re.finditer(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:", text)]
    at = found[1] if len(found) > 1 else 0
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
