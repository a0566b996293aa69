"""What JSON Schema can't say of arguments: money is whole minor units, and a wall-clock time exists exactly once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows import money
from workflows.errors import Flaw
from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workflows.outcomes import JsonObject

NO_FLOAT = "is a binary float; amounts are whole minor units (1099 for 10.99)"


def flaws(spec: JsonObject, arguments: dict[str, Any]) -> list[Flaw]:
    """Everything of that kind that the arguments alone can tell; what needs more is told before the send."""
    return [*_money(spec, arguments), *_times(spec, arguments)]


def _money(spec: JsonObject, arguments: dict[str, Any]) -> Iterator[Flaw]:
    declared: Mapping[str, Any] | None = spec.get("value")
    if not declared:
        return
    if found := money.floats(arguments, "arguments"):
        yield from (Flaw(path, value, NO_FLOAT) for path, value in found)
        return
    amount, currency = (_value(declared[name], arguments) for name in ("amount", "currency"))
    if amount is not None and (not isinstance(amount, int) or isinstance(amount, bool)):
        yield Flaw(_argument(declared["amount"]), amount, "must be a whole number of minor units")
    if currency is not None:
        try:
            money.decimals(currency)
        except ValueError as trouble:
            yield Flaw(_argument(declared["currency"]), currency, str(trouble))


def _value(declared: Any, arguments: dict[str, Any]) -> Any:
    try:
        return expressions.fill(declared, {"args": arguments})
    except ExpressionError:
        return None


def _times(spec: JsonObject, arguments: dict[str, Any]) -> Iterator[Flaw]:
    """Wherever the request makes an instant of arguments, it is made once now."""
    seen = set()
    for _, text in expressions.texts_in({name: spec[name] for name in ("execute", "scopes") if name in spec}):
        for source in expressions.parse(text).sources:
            if source in seen or not _reads_times(source):
                continue
            seen.add(source)
            try:
                expressions.compile(source, ("args",)).run({"args": arguments})
            except ExpressionError as error:
                yield Flaw(_argument("${" + source + "}"), _first(source, arguments), error.message)


def _reads_times(source: str) -> bool:
    try:
        analysis = expressions.compile(source, ("args",)).analysis
    except ExpressionError:
        return False  # it reads more than arguments
    return "instant" in analysis.functions


def _argument(text: Any) -> str:
    """`arguments.start`: the first argument that an expression reads."""
    sources = expressions.parse(text).sources if isinstance(text, str) else []
    paths = [path for source in sources for path in expressions.paths(source) if path[0] == "args"]
    return ".".join(["arguments", *map(str, paths[0][1:])]) if paths else "arguments"


def _first(source: str, arguments: dict[str, Any]) -> Any:
    path = next((path for path in expressions.paths(source) if path[0] == "args" and len(path) > 1), None)
    return arguments.get(str(path[1])) if path else None
