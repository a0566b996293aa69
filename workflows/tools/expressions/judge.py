"""Several conditions over the same names, which are bound once. For policies, whose rules are asked in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cel

from workflows.tools.expressions import functions
from workflows.tools.expressions.binding import Load, bound
from workflows.tools.expressions.programs import Expression, said, token_of
from workflows.tools.expressions.tokens import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Judge:
    """Immutable, shared between threads. `most_work`: what one condition may cost, as `Expression` reckons it."""

    def __init__(self, conditions: Sequence[Expression], *, most_work: int) -> None:
        self.conditions, self.most_work = tuple(conditions), most_work
        self.wanted = frozenset().union(*(c.analysis.variables for c in conditions))
        self.ours = any(c.calls_ours for c in conditions)

    def over(self, names: Mapping[str, Any]) -> Asked:
        """The conditions over these names. Raises `ExpressionError` for values that CEL can't hold."""
        variables, load = bound(names, self.wanted, "facts")
        trouble: list[str] = []
        known = {**functions.extensions(trouble), "secret": token_of} if self.ours else {}
        return Asked(self, cel.Context(variables=variables, functions=known), load, trouble)


class Asked:
    """One binding; used by one thread."""

    def __init__(self, judge: Judge, context: Any, load: Load, trouble: list[str]) -> None:
        self.judge, self.context, self.load, self.trouble = judge, context, load, trouble

    def holds(self, number: int) -> bool:
        """Whether that condition is true. Raises `ExpressionError` where it has no value, or none that is boolean."""
        condition = self.judge.conditions[number]
        condition.afford(self.load, self.judge.most_work)
        try:
            value = condition.program.execute(self.context)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic in the library is no Exception
            raise ExpressionError("", condition.text, said(error)) from None
        if self.trouble:
            raise ExpressionError("", condition.text, self.trouble.pop())
        if not isinstance(value, bool):
            raise ExpressionError("", condition.text, f"gives {type(value).__name__}, not true or false")
        return value
