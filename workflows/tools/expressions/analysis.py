"""What an expression would read and do, found from its words before it runs; everything outside the grammar refused."""

from __future__ import annotations

import dataclasses
import re

from workflows.tools.expressions import functions
from workflows.tools.expressions.tokens import ExpressionError, Token, partners, words

# A manifest's expressions are short; these keep the parser's and the evaluator's work far below what anyone can notice.
LONGEST = 2048
DEEPEST = 32
MOST_COMPREHENSIONS = 4
MOST_MATCHES = 2
LONGEST_PATTERN = 200
# Counted repetitions multiply a pattern's automaton: `(\w){100}` over 250 kB already takes 0.4 s.
MOST_REPEATS = 64

MACROS = frozenset({"all", "exists", "exists_one", "map", "filter"})
TYPES = frozenset({"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type"})
SECRET_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")

Path = tuple[str | int | None, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Comprehension:
    """One `.map(x, …)` and the like: how often its body names its own variable, which others, literals and calls."""

    macro: str
    own: int
    free: tuple[str, ...]
    literals: int
    calls: int


@dataclasses.dataclass(frozen=True, slots=True)
class Analysis:
    """`paths`: each free name with what is selected from it, `steps.crm.result.id` as a tuple; None where computed."""

    paths: tuple[Path, ...]
    functions: frozenset[str]
    comprehensions: tuple[Comprehension, ...]
    own_names: frozenset[str]  # those that comprehensions bind
    secrets: tuple[str, ...]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(str(path[0]) for path in self.paths)


def analyse(text: str) -> Analysis:
    """Reads `text`, which isn't trusted to be CEL. Raises `ExpressionError` for all that we don't take."""
    if len(text) > LONGEST:
        raise ExpressionError("", text, f"is {len(text)} characters long; at most {LONGEST} are taken")
    tokens = list(words(text))
    if not tokens:
        raise ExpressionError("", text, "is empty")
    return _Reader(text, tokens).read()


class _Reader:
    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens = text, tokens
        self.partner = partners(tokens, text)
        self.paths: list[Path] = []
        self.functions: set[str] = set()
        self.comprehensions: list[Comprehension] = []
        self.secrets: list[str] = []

    def read(self) -> Analysis:
        bodies = self._bodies()
        depth = 0
        for index, token in enumerate(self.tokens):
            if token.kind == "sign":
                depth += (token.text in "([{") - (token.text in ")]}")
                if depth > DEEPEST:
                    raise self._error(token, f"nests deeper than {DEEPEST} brackets")
                if token.text == "{" and index and (self._is(index - 1, ")") or self.tokens[index - 1].is_name):
                    raise self._error(token, "would make a message; there are none here")
                if token.text == "/" and self._is(index - 1, "/"):
                    raise self._error(token, "would begin a comment; there are none here")
            elif token.is_name:
                self._name(index, bodies, depth)
        matches = sum(token.is_name and token.text == "matches" for token in self.tokens)
        if matches > MOST_MATCHES:
            raise ExpressionError("", self.text, f"uses matches {matches} times; at most {MOST_MATCHES} are taken")
        return Analysis(
            paths=tuple(self.paths),
            functions=frozenset(self.functions),
            comprehensions=tuple(self.comprehensions),
            own_names=frozenset(variable for _, _, variable in bodies) | TYPES,
            secrets=tuple(self.secrets),
        )

    def _bodies(self) -> list[tuple[int, int, str]]:
        """(first, last, variable) of each comprehension's brackets. None may lie in another."""
        found: list[tuple[int, int, str]] = []
        for index, token in enumerate(self.tokens):
            if not (token.is_name and token.text in MACROS and self._is(index - 1, ".") and self._is(index + 1, "(")):
                continue
            first, last = index + 1, self.partner[index + 1]
            variable = self.tokens[first + 1]
            if not variable.is_name or not self._is(first + 2, ","):
                raise self._error(token, f"needs the form list.{token.text}(x, expression)")
            if any(begin < index < end for begin, end, _ in found):
                raise self._error(token, "stands inside another comprehension; they don't nest")
            found.append((first, last, variable.text))
            self.comprehensions.append(self._weighed(token.text, first, last, variable.text))
        if len(found) > MOST_COMPREHENSIONS:
            raise ExpressionError("", self.text, f"has {len(found)} comprehensions; {MOST_COMPREHENSIONS} are taken")
        if sum(one.macro == "map" for one in self.comprehensions) > 1:
            raise ExpressionError("", self.text, "maps more than once; split it over two expressions")
        return found

    def _weighed(self, macro: str, first: int, last: int, variable: str) -> Comprehension:
        body = range(first + 3, last)
        heads = [i for i in body if self.tokens[i].is_name and not self._is(i - 1, ".") and not self._is(i + 1, "(")]
        free = tuple(self.tokens[i].text for i in heads if self.tokens[i].text != variable)
        literals = sum(self.tokens[i].kind in ("string", "number") for i in body)
        calls = sum(self.tokens[i].is_name and self._is(i + 1, "(") for i in body)
        return Comprehension(macro, len(heads) - len(free), free, literals, calls)

    def _name(self, index: int, bodies: list[tuple[int, int, str]], depth: int) -> None:
        token = self.tokens[index]
        inside = [variable for first, last, variable in bodies if first < index < last]
        if self._is(index + 1, "("):
            self._function(index, bool(inside), depth)
        elif self._is(index - 1, "."):
            if index == 1:
                raise self._error(token, "must not begin with a dot")
        elif token.text not in inside and token.text not in TYPES:
            self.paths.append((token.text, *self._selected(index + 1)))

    def _function(self, index: int, inside: bool, depth: int) -> None:
        token = self.tokens[index]
        method = self._is(index - 1, ".")
        known = functions.METHODS if method else functions.FREE
        if not (method and token.text in MACROS) and token.text not in known:
            raise self._error(token, f"{token.text}() isn't known; known: {', '.join(sorted(known))}")
        if token.text == "secret":
            self._secret(index, depth)
        if token.text == "matches":
            self._pattern(index, inside)
        self.functions.add(token.text)

    def _secret(self, index: int, depth: int) -> None:
        """A secret may only be joined to a text: anything else would bend the token that the wire replaces."""
        argument, end = self.tokens[index + 2], self.partner[index + 1]
        name = argument.literal()
        if end != index + 3 or name is None or not SECRET_NAME.fullmatch(name):
            raise self._error(self.tokens[index], "secret() takes one literal name of capitals, digits and _")
        alone = index == 0 or self._is(index - 1, "+")
        if depth or not alone or not (end == len(self.tokens) - 1 or self._is(end + 1, "+")):
            raise self._error(self.tokens[index], "secret() can only stand alone or be joined by +")
        self.secrets.append(name)

    def _pattern(self, index: int, inside: bool) -> None:
        """Only literal patterns of small cost: the engine is linear, but a pattern is compiled at every use."""
        argument, end = self.tokens[index + 2], self.partner[index + 1]
        if inside or end != index + 3 or argument.kind != "string":
            raise self._error(self.tokens[index], "matches() takes one literal pattern, outside any comprehension")
        repeats = 1
        for count in re.findall(r"\{\s*[0-9,\s]*?([0-9]{1,9})\s*\}", argument.text):
            repeats *= max(1, int(count))
        if len(argument.text) > LONGEST_PATTERN or repeats > MOST_REPEATS:
            limits = f"{LONGEST_PATTERN} characters or {MOST_REPEATS} repeats"
            raise self._error(self.tokens[index], f"has a pattern over {limits}")

    def _selected(self, index: int) -> Path:
        path: list[str | int | None] = []
        while index < len(self.tokens):
            if self._is(index, ".") and index + 1 < len(self.tokens) and self.tokens[index + 1].kind == "name":
                if self._is(index + 2, "("):
                    break
                path.append(self.tokens[index + 1].text)
                index += 2
            elif self._is(index, "["):
                inner = self.tokens[index + 1]
                if self.partner[index] != index + 2:
                    path.append(None)
                elif inner.kind == "number":
                    path.append(int(inner.text) if inner.text.isdigit() else None)
                else:
                    path.append(inner.literal())
                index = self.partner[index] + 1
            else:
                break
        return tuple(path)

    def _is(self, index: int, sign: str) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].kind == "sign" and self.tokens[index].text == sign

    def _error(self, token: Token, message: str) -> ExpressionError:
        return ExpressionError("", self.text, f"{token.text!r} at character {token.start + 1}: {message}")
