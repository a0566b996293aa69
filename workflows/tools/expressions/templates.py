"""Texts with `${ }` in JSON values: one whole expression keeps its type, anything else is joined as text."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

from workflows.tools.expressions.programs import Expression, compile  # noqa: A004
from workflows.tools.expressions.tokens import ExpressionError, end_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

OPEN, ESCAPED = "${", "$${"
# Far above any manifest; it only keeps a hostile document from endless work.
LONGEST = 65_536


@dataclasses.dataclass(frozen=True, slots=True)
class Template:
    """Literal pieces and the source texts of expressions, in order."""

    text: str
    parts: tuple[tuple[bool, str], ...]  # (is an expression, text)

    @property
    def sources(self) -> list[str]:
        return [text for is_expression, text in self.parts if is_expression]

    @property
    def whole(self) -> bool:
        """One expression and nothing else: its value keeps its type."""
        return len(self.parts) == 1 and self.parts[0][0]

    def expressions(self, names: Collection[str], *, with_secrets: bool = False) -> list[Expression]:
        return [compile(source, names, with_secrets=with_secrets) for source in self.sources]

    def fill(self, names: Mapping[str, Any], *, with_secrets: bool = False) -> Any:
        if self.whole:
            return compile(self.parts[0][1], names, with_secrets=with_secrets).run(names)
        return self.joined(names, text_of, with_secrets=with_secrets)

    def joined(self, names: Mapping[str, Any], shape: Callable[[Any], str], *, with_secrets: bool = False) -> str:
        """All parts as one text, each value brought into shape by the caller (a URL encodes it, say)."""
        pieces: list[str] = []
        for is_expression, text in self.parts:
            if is_expression:
                value = compile(text, names, with_secrets=with_secrets).run(names)
                try:
                    pieces.append(shape(value))
                except ValueError as error:
                    raise ExpressionError("", text, str(error)) from None
            else:
                pieces.append(text)
        return "".join(pieces)


def fill(value: Any, names: Mapping[str, Any], path: str = "", *, with_secrets: bool = False) -> Any:
    """The JSON value with every `${ }` in its strings filled (never in keys). Errors carry the dotted path."""
    match value:
        case str():
            try:
                return parse(value).fill(names, with_secrets=with_secrets)
            except ExpressionError as error:
                raise error.at(path) from None
        case dict():
            return {key: fill(item, names, _below(path, key), with_secrets=with_secrets) for key, item in value.items()}
        case list():
            return [fill(item, names, _below(path, i), with_secrets=with_secrets) for i, item in enumerate(value)]
        case _:
            return value


def fill_text(text: str, names: Mapping[str, Any], missing: str = "(not known)") -> str:
    """The text for people: what has no value here is said to be not known, so a sentence never breaks a page."""
    template = parse(text)
    pieces: list[str] = []
    for is_expression, part in template.parts:
        try:
            pieces.append(text_of(compile(part, names).run(names)) if is_expression else part)
        except ExpressionError:
            pieces.append(missing)
    return "".join(pieces)


def text_of(value: Any) -> str:
    """How a value stands inside a text. Null, lists and maps have no place there: `/contacts/null` is somebody's."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            kind = {"NoneType": "null", "list": "a list", "dict": "a map"}.get(type(value).__name__, "this")
            raise ExpressionError("", str(value)[:80], f"{kind} can't stand inside a text")


def texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a JSON value that holds an expression, with its path."""
    if isinstance(value, str):
        if OPEN in value:
            yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts_in(item, _below(path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from texts_in(item, _below(path, number))


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Template:
    """Cuts a text at its `${ }`; `$${` is a literal `${`. Raises `ExpressionError` where one is never closed."""
    if len(text) > LONGEST and OPEN in text:
        raise ExpressionError("", text, f"is {len(text)} characters long; with expressions {LONGEST} are taken")
    parts: list[tuple[bool, str]] = []
    literal, at = "", 0
    while (begin := text.find(OPEN, at)) != -1:
        if begin > at and text[begin - 1] == "$":
            literal, at = literal + text[at : begin - 1] + OPEN, begin + len(OPEN)
            continue
        literal += text[at:begin]
        end = end_of(text, begin + len(OPEN))
        if literal:
            parts.append((False, literal))
        parts.append((True, text[begin + len(OPEN) : end].strip()))
        literal, at = "", end + 1
    literal += text[at:]
    if literal or not parts:
        parts.append((False, literal))
    return Template(text, tuple(parts))


def _below(path: str, part: object) -> str:
    return f"{path}.{part}" if path else str(part)
