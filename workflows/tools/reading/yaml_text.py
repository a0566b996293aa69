"""YAML as events, so that an alias or a tag is refused before anything is built from it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from workflows.tools.reading.documents import DEEPEST, INTEGER, line_of, number, refused, unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workflows.errors import Invalid
    from workflows.tools.reading.documents import Document, Where

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
# What other readers take for a number or a date, each another one.
TRAPS = (
    (re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?"), "a leading zero is octal to some readers"),
    (re.compile(r"[-+]?0[oxb][0-9a-fA-F_]+"), "this is no number of JSON"),
    (re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9]*)?"), "this is a number in base 60 to some readers"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?"), "this is a date to some readers"),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), "this is no number of JSON"),
)


def read(document: Document, text: str) -> None:
    """Fills the document from YAML 1.2's core schema. Raises `Invalid`."""
    try:
        _Reader(document).read(iter(YAML(typ="safe", pure=True).parse(text)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise refused(document, line, column, line_of(text, line), str(error.problem or error.context)) from None
    except YAMLError as error:
        found = getattr(error, "character", "")
        character = chr(found) if isinstance(found, int) else str(found)
        line = text.count("\n", 0, max(0, text.find(character))) + 1
        raise refused(document, line, 1, character, "can't stand in a YAML file") from None


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document

    def read(self, stream: Iterator[Any]) -> None:
        documents = 0
        for event in stream:
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error(event, "---", "only one document is taken in a file")
                if event.tags or (event.version and tuple(event.version) != (1, 2)):
                    raise self._error(event, "%", "directives aren't taken; write plain YAML 1.2")
                self.document.value = self._node(next(stream), stream, ())

    def _node(self, event: Any, stream: Iterator[Any], where: Where) -> Any:
        self.document.places.setdefault(where, (event.start_mark.line + 1, event.start_mark.column + 1))
        if isinstance(event, events.AliasEvent) or event.anchor:
            raise self._error(event, event.anchor, "anchors and aliases aren't taken; write the value out", where)
        if event.tag is not None:
            raise self._error(event, event.tag, "tags aren't taken", where)
        if len(where) > DEEPEST:
            raise self._error(event, "…", f"is nested deeper than {DEEPEST}", where)
        if isinstance(event, events.ScalarEvent):
            return self._scalar(event, where)
        if isinstance(event, events.SequenceStartEvent):
            return self._sequence(stream, where)
        return self._mapping(stream, where)

    def _sequence(self, stream: Iterator[Any], where: Where) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(stream), events.SequenceEndEvent):
            items.append(self._node(event, stream, (*where, len(items))))
        return items

    def _mapping(self, stream: Iterator[Any], where: Where) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(stream), events.MappingEndEvent):
            if not isinstance(event, events.ScalarEvent):
                raise self._error(event, "…", "a key must be a string", where)
            key = self._node(event, stream, (*where, f"{event.value}"))
            if event.value == "<<" and event.style is None:
                raise self._error(event, "<<", "merge keys aren't taken; write the fields out", where)
            if not isinstance(key, str):
                raise self._error(event, key, f"a key must be a string; write {json.dumps(event.value)}", where)
            if key in found:
                raise self._error(event, key, "stands here a second time; a key may stand once", (*where, key))
            found[key] = self._node(next(stream), stream, (*where, key))
        return found

    def _scalar(self, event: Any, where: Where) -> Any:
        text: str = event.value
        try:
            value = _plain(text) if event.style is None else text
        except ValueError as error:
            raise self._error(event, text, str(error), where) from None
        if isinstance(value, str) and (trouble := unfit(value)) is not None:
            raise self._error(event, text, trouble, where)
        return value

    def _error(self, event: Any, value: object, message: str, where: Where = ()) -> Invalid:
        mark = event.start_mark
        return refused(self.document, mark.line + 1, mark.column + 1, value, message, where)


def _plain(text: str) -> Any:
    """An unquoted scalar by YAML 1.2's core schema; what older readers take for something else raises `ValueError`."""
    if text in NULLS:
        return None
    if text in BOOLEANS:
        return BOOLEANS[text]
    for pattern, why in TRAPS:
        if pattern.fullmatch(text):
            raise ValueError(f"{why}; put it into quotes")
    if INTEGER.fullmatch(text) or (DECIMAL.fullmatch(text) and any(c.isdigit() for c in text)):
        return number(text)
    return text
