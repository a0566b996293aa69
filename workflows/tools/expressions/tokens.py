"""Cuts CEL into words, so that names can be judged and the end of a `${ }` found before anything runs."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from workflows.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

# Linear alternation, no nested quantifier: this runs over foreign text. Comments are left out on purpose:
# one could hide the end of a template.
WORDS = re.compile(
    r"""(?P<space>[ \t\r\n\f]+)
    |(?P<string>\"{3}(?:[^\\\"]|\\.|\"(?!\"\"))*\"{3}|'{3}(?:[^\\']|\\.|'(?!''))*'{3}
        |\"(?:[^\\\"\n\r]|\\.)*\"|'(?:[^\\'\n\r]|\\.)*'
        |[rR]\"(?!\"\")[^\"\n\r]*\"|[rR]'(?!'')[^'\n\r]*')
    |(?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>&&|\|\||==|!=|<=|>=|[<>!+\-*/%?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
WORDS_OF_THE_LANGUAGE = frozenset({"true", "false", "null", "in"})
PAIRS = {")": "(", "]": "[", "}": "{"}


class ExpressionError(Exception):
    """An expression that can't be taken, or that has no value here. `path` is where it stands in its document."""

    def __init__(self, path: str, text: str, message: str) -> None:
        self.path, self.text, self.message = path, text, message
        super().__init__(path, text, message)

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.message} (in {shown(self.text)})"

    def at(self, path: str) -> ExpressionError:
        """The same error, at its place in a document."""
        return type(self)(path, self.text, self.message)


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    kind: str  # "string" | "number" | "name" | "sign"
    text: str
    start: int

    @property
    def is_name(self) -> bool:
        return self.kind == "name" and self.text not in WORDS_OF_THE_LANGUAGE

    def literal(self) -> str | None:
        """The value of a plain string literal; None for raw, bytes and escaped ones, which no name needs."""
        if self.kind != "string" or "\\" in self.text or self.text[0] not in "'\"":
            return None
        width = 3 if self.text[:3] in ("'''", '"""') else 1
        return self.text[width:-width]


def words(text: str, start: int = 0) -> Iterator[Token]:
    """The words of `text` from `start` on, blanks left out. Raises at the first character that begins none."""
    at = start
    while at < len(text):
        match = WORDS.match(text, at)
        if match is None:
            raise ExpressionError("", text, f"{text[at]!r} at character {at + 1} isn't part of an expression")
        if match.lastgroup != "space":
            yield Token(str(match.lastgroup), match.group(), at)
        at = match.end()


def end_of(text: str, start: int) -> int:
    """Where the `}` stands that closes an expression begun at `start`, strings and inner braces passed over."""
    depth = 0
    for token in words(text, start):
        if token.text == "}" and token.kind == "sign" and depth == 0:
            return token.start
        if token.kind == "sign" and token.text in "([{":
            depth += 1
        elif token.kind == "sign" and token.text in PAIRS:
            depth -= 1
    raise ExpressionError("", text, "${ is never closed by }")


def partners(tokens: list[Token], text: str) -> dict[int, int]:
    """For each opening bracket's index the index of its partner."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in "([{":
            waiting.append(index)
        elif token.text in PAIRS:
            if not waiting or tokens[waiting[-1]].text != PAIRS[token.text]:
                raise ExpressionError("", text, f"{token.text!r} at character {token.start + 1} closes nothing")
            found[waiting.pop()] = index
    if waiting:
        token = tokens[waiting[-1]]
        raise ExpressionError("", text, f"{token.text!r} at character {token.start + 1} is never closed")
    return found
