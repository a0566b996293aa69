"""Reads what stands right before each undoing, so that nothing is undone twice, over a dispute, or beyond what is left.

1. Held by something else, a dispute say: not sent, a person decides.
2. Done already, by whoever: not sent either; the undoing's own look proves it.
3. Less than the whole is left: not sent until a person agrees to exactly that.
4. Otherwise sent, with `remaining` where it is declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused, Sighting
from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError
from workflows.tools.http import looking
from workflows.tools.http.answers import names_of
from workflows.tools.http.attempt import hidden
from workflows.tools.keeping import keepable, sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workflows.tools.call import Call
    from workflows.tools.wire.messages import Deadline

UNREAD = "what stands could not be read before it is undone"
FIRST = "This is read first; nothing is sent if it is held, undone already, or less is left than is agreed."


def read(
    declared: Mapping[str, Any],
    names: Mapping[str, Any],
    call: Call,
    value: Mapping[str, Any] | None,
    deadline: Deadline,
) -> Outcome | dict[str, Any]:
    """Names for the request, or the outcome that says why none is sent. `value`: of the act that is to be undone."""
    found = looking.read(declared, names, timeout=deadline.seconds_left(), tokens=call.tokens)
    if isinstance(found, Sighting):
        reason = f"{UNREAD}: {found.reason}"
        if found.rejected:
            return Refused(reason=reason, temporary=True, rejected=found.rejected, evidence=found.evidence)
        if found.unmade:
            return Refused(reason=reason, evidence=found.evidence)
        return NotSent(reason=reason, evidence=found.evidence)
    prepared, answer, kept = found
    if not 200 <= answer.status < 300:
        return NotSent(reason=f"{UNREAD}: status {answer.status}", evidence=kept)
    try:
        outcome = _judged(declared, {**names, **names_of(answer)}, call, value, kept)
    except ExpressionError as error:
        return NotSent(reason=f"{UNREAD}: {error}", evidence=kept)
    return outcome if isinstance(outcome, dict) else hidden(prepared, outcome)


def expected(declared: Mapping[str, Any], call: Call, value: Mapping[str, Any] | None) -> dict[str, Any]:
    """The names that the request is made with, should it be sent at all."""
    if "remaining" not in declared or value is None:
        return {}
    return {"remaining": value["amount"] if call.agreed is None else call.agreed}


def _judged(
    declared: Mapping[str, Any],
    names: Mapping[str, Any],
    call: Call,
    value: Mapping[str, Any] | None,
    kept: Mapping[str, Any],
) -> Outcome | dict[str, Any]:
    says = sentence(expressions.fill_text(declared.get("says", ""), names, missing=""))
    if _holds(declared.get("blocked"), names):
        reason = f"something else holds it{': ' if says else ''}{says}"
        return Refused(reason=reason, code="disputed", evidence=kept)
    left = _remaining(declared, names)
    if _holds(declared.get("done"), names) or (left is not None and left <= 0):
        # After an earlier try nobody can tell ours from somebody else's by what is left alone.
        by = "somebody else" if call.attempt == 1 else "an earlier try, or somebody else"
        return Acknowledged(result={"undone_by": by, **({"says": keepable(says)} if says else {})}, evidence=kept)
    if left is None or value is None:
        return {}
    whole = value["amount"]
    if left < whole and left != call.agreed:
        reason = f"{left} of {whole} (minor units of {value['currency']}) are left to undo{'; ' if says else ''}{says}"
        return Refused(reason=reason, code="less_remains", evidence={**kept, "remaining": left})
    return {"remaining": min(left, whole)}


def _remaining(declared: Mapping[str, Any], names: Mapping[str, Any]) -> int | None:
    if "remaining" not in declared:
        return None
    left = expressions.fill(declared["remaining"], names)
    if not isinstance(left, int) or isinstance(left, bool):
        raise ExpressionError("remaining", str(left), "is no whole number of minor units")
    return left


def _holds(text: str | None, names: Mapping[str, Any]) -> bool:
    return text is not None and expressions.compile(text, names).holds(names)
