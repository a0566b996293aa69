"""Which names an expression may speak of, place by place; every undefined one becomes a flaw."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from workflows.tools import expressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workflows.errors import Flaw
    from workflows.tools.expressions.analysis import Path
    from workflows.tools.reading import Document
    from workflows.tools.reading.documents import Where

OF_A_CALL = frozenset({"args", "key", "run", "subject", "input", "steps", "env", "now"})
OF_AN_ANSWER = frozenset({"status", "headers", "body", "text"})
OF_AN_UNDOING = frozenset({"result", "before", "forward"})
OF_A_STEP = frozenset({"run", "subject", "input", "steps", "env", "now"})
OF_A_LOOK = frozenset({"sent"})
OF_A_MAIL = frozenset({"message_id"})

RUN = frozenset({"id", "external_id", "workflow"})
SUBJECT = frozenset({"type", "id", "label"})
FORWARD = frozenset({"key"})
SENT = frozenset({"at", "epoch"})


@dataclasses.dataclass(slots=True)
class Checker:
    """Checks the texts of one tool or workflow. `fields`: what is known to lie below a name, where that is known."""

    document: Document
    fields: Mapping[str, frozenset[str]]
    flaws: list[Flaw] = dataclasses.field(default_factory=list)

    def templates(self, where: Where, value: Any, names: frozenset[str], *, secrets: bool = False) -> None:
        """Every `${ }` in a JSON value."""
        for place, text in texts(value):
            try:
                template = expressions.parse(text)
            except expressions.ExpressionError as error:
                self.flaws.append(self.document.flaw((*where, *place), text, error.message))
                continue
            for source in template.sources:
                self._expression((*where, *place), source, names, secrets=secrets)

    def condition(self, where: Where, text: str | None, names: frozenset[str]) -> None:
        """A bare expression, as in `acknowledged`."""
        if text is not None and text.strip().startswith(expressions.OPEN):
            self.flaws.append(self.document.flaw(where, text, "is an expression already; write it without ${ }"))
        elif text is not None:
            self._expression(where, text, names, secrets=False)

    def add(self, where: Where, value: object, message: str) -> None:
        self.flaws.append(self.document.flaw(where, value, message))

    def _expression(self, where: Where, source: str, names: frozenset[str], *, secrets: bool) -> None:
        try:
            paths = expressions.compile(source, names, with_secrets=secrets).analysis.paths
        except expressions.ExpressionError as error:
            self.add(where, source, error.message)
            return
        for path in paths:
            if (message := self._unknown(path)) is not None:
                self.add(where, source, message)

    def _unknown(self, path: Path) -> str | None:
        known = self.fields.get(str(path[0]))
        if known is None:
            return None
        if len(path) == 1 or path[1] is None:
            return "must be read by its names, as env.NAME" if path[0] == "env" else None
        if path[1] in known:
            return None
        there = ", ".join(sorted(known)) or "none"
        if path[0] == "env":
            return f"env.{path[1]} isn't among the names in MAKEGOOD_ENV ({there})"
        return f"{path[0]}.{path[1]} isn't defined; defined: {there}"


def texts(value: Any, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """Every string of a JSON value that holds an expression, with its place."""
    match value:
        case str() if expressions.OPEN in value:
            yield where, value
        case dict():
            for name, item in value.items():
                yield from texts(item, (*where, name))
        case list():
            for number, item in enumerate(value):
                yield from texts(item, (*where, number))
        case _:
            pass


def read_paths(value: Any) -> Iterator[tuple[Where, Path]]:
    """Each name that the `${ }` in a JSON value read; what doesn't compile is left to the checker."""
    for place, text in texts(value):
        try:
            for source in expressions.parse(text).sources:
                for path in expressions.paths(source):
                    yield place, path
        except expressions.ExpressionError:
            continue


def of_schema(schema: Any) -> frozenset[str] | None:
    """The names a JSON Schema lists, where it can hold no others that are meant; None where nothing can be said."""
    open_ended = ("$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas", "$dynamicRef")
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return None
    if any(word in schema for word in open_ended) or schema.get("additionalProperties", False) is not False:
        return None
    return frozenset(schema["properties"])
