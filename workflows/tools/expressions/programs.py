"""One compiled expression: names checked before it exists, its work reckoned before it runs."""

from __future__ import annotations

import dataclasses
import functools
import secrets
from typing import TYPE_CHECKING, Any

import cel

from workflows.tools.expressions import functions
from workflows.tools.expressions.analysis import Analysis, Path, analyse
from workflows.tools.expressions.binding import Load, bound, out
from workflows.tools.expressions.tokens import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# The library copies what a comprehension has built at every item: about 43 ns a value on a slow core, so this is 0.2 s.
MOST_WORK = 5_000_000
CALL = 4  # a function of ours on a text, in copies of that text
# `matches` scans linearly, but a bad pattern at about 4 µs a character.
MOST_CHARACTERS_MATCHED = 65_536
# Nobody outside this process can write a token that the wire would replace by a secret.
_SEAL = secrets.token_hex(16)


@dataclasses.dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression. Immutable, shared between threads."""

    text: str
    analysis: Analysis
    program: cel.Program

    def run(self, names: Mapping[str, Any]) -> Any:
        """The JSON value over these names. Raises `ExpressionError` for everything that has none."""
        variables, load = bound(names, self.analysis.variables, self.text)
        self.afford(load)
        trouble: list[str] = []
        known = {**functions.extensions(trouble), "secret": token_of} if self.calls_ours else {}
        try:
            value = self.program.execute(cel.Context(variables=variables, functions=known))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic in the library is no Exception
            raise ExpressionError("", self.text, said(error)) from None
        if trouble:
            raise ExpressionError("", self.text, trouble[0])
        return out(value, self.text)

    def holds(self, names: Mapping[str, Any]) -> bool:
        """Whether it is true. Not boolean is an error like any other."""
        value = self.run(names)
        if not isinstance(value, bool):
            raise ExpressionError("", self.text, f"gives {type(value).__name__}, not true or false")
        return value

    @property
    def calls_ours(self) -> bool:
        return not self.analysis.functions <= functions.FREE_NATIVE

    def afford(self, load: Load, most: int = MOST_WORK) -> None:
        """Raises `ExpressionError` where it would cost too much over what is bound."""
        longest = max(load.longest, self.text.count(","))
        work = load.weight * len(self.analysis.paths) ** 2
        for one in self.analysis.comprehensions:
            others = sum(load.by_name.get(name, 1) for name in one.free)
            # A call may read the whole text each time, and in Python.
            work += (load.weight * (1 + one.own) + longest * others) * (1 + CALL * one.calls)
            if one.macro == "map":
                work += longest * (load.weight * one.own + longest * (others + one.literals)) // 2
            elif one.macro == "filter":
                work += longest * load.weight // 2
        if work > most:
            raise ExpressionError("", self.text, f"would cost too much on {load.nodes} values (longest {longest})")
        if "matches" in self.analysis.functions and load.characters > MOST_CHARACTERS_MATCHED:
            raise ExpressionError("", self.text, f"would match over {MOST_CHARACTERS_MATCHED} characters")


def compile(text: str, names: Collection[str], *, with_secrets: bool = False) -> Expression:  # noqa: A001
    """The expression, if it is CEL and speaks only of `names`; else `ExpressionError`. A text is parsed once."""
    expression = _compiled(text)
    for path in expression.analysis.paths:
        if path[0] not in names:
            raise ExpressionError("", text, f"{path[0]} isn't known here; known: {', '.join(sorted(names))}")
    if expression.analysis.secrets and not with_secrets:
        raise ExpressionError("", text, "secret() is allowed in headers, json and auth only")
    return expression


def paths(text: str) -> tuple[Path, ...]:
    """Each name that the expression reads, with what it selects from it. Raises `ExpressionError`."""
    return _compiled(text).analysis.paths


def token_of(name: str) -> str:
    """What stands for a secret until the wire: never stored, never shown, worthless outside this process."""
    return f"<secret {name} {_SEAL}>"


@functools.lru_cache(maxsize=4096)
def _compiled(text: str) -> Expression:
    analysis = analyse(text)
    try:
        program = cel.compile(text)
        seen = set(program.variables())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in the library is no Exception
        raise ExpressionError("", text, f"is no expression: {said(error)}") from None
    # Both readers must agree on what is read, else a name could slip past the check of one of them.
    if not {str(name) for name in analysis.variables} <= seen:
        raise ExpressionError("", text, "can't be read without doubt; write it more simply")
    unseen = seen - analysis.variables - analysis.own_names
    if unseen:
        raise ExpressionError(
            "", text, f"can't be read without doubt ({', '.join(sorted(unseen))}); write it more simply"
        )
    return Expression(text, analysis, program)


def said(error: BaseException) -> str:
    """The library's words without the source, which the error shows itself, and without its advice."""
    message = str(error)
    if isinstance(error, KeyError):
        return f"has no field {message}"
    if "ERROR: <input>:" in message:
        message = message.split("ERROR: <input>:", 1)[1]
    return message.split("\n", 1)[0].split(". C", 1)[0][:200]
