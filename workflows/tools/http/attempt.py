"""One exchange with its evidence, and what it is worth where no whole answer came back."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from workflows.outcomes import NotSent, Outcome, Refused, Rejected, Sighting, Unknown
from workflows.tools import environment, tokens
from workflows.tools.http.answers import evidence
from workflows.tools.secrets import NotSet
from workflows.tools.tokens import NoToken
from workflows.tools.wire import Answer, Forbidden, Lost, NotLeft, exchange

if TYPE_CHECKING:
    from workflows.tools.expressions import ExpressionError
    from workflows.tools.http.requests import Prepared

Evidence = dict[str, Any]
Told = TypeVar("Told", Outcome, Sighting)


Means = Callable[["Answer"], bool | None]  # whether an answer refuses who asked; None: the manifest doesn't say


def attempt(
    prepared: Prepared, *, timeout: float, means: Means = lambda _: None
) -> tuple[Answer, Evidence] | NotSent | Refused | Unknown:
    """Sends once. A forbidden address is refused for good: nothing was sent, and nothing ever will be."""
    began = time.monotonic()
    try:
        answer = exchange(prepared.request, timeout=timeout)
    except NotLeft as trouble:
        return NotSent(reason=str(trouble), evidence=evidence(prepared, None, _since(began)))
    except Forbidden as trouble:
        return Refused(reason=str(trouble), evidence=evidence(prepared, None, _since(began)))
    except Lost as trouble:
        kept = evidence(prepared, trouble.partial, _since(began), whole=False)
        if trouble.too_large:
            kept["too_large"] = True
        return Unknown(reason=prepared.secrets.hide(str(trouble)), evidence=kept)
    kept = evidence(prepared, answer, _since(began))
    if rejected := _rejected(prepared, answer, means(answer)):
        whom = f"the token of {rejected.credential}" if rejected.credential else f"secret {', '.join(rejected.secrets)}"
        reason = f"the provider does not accept {whom} (status {answer.status})"
        return Refused(reason=reason, temporary=True, rejected=rejected, evidence=kept)
    return answer, kept


def _rejected(prepared: Prepared, answer: Answer, means: bool | None) -> Rejected | None:
    token = prepared.token
    if means and token is not None:
        return Rejected(token.credential, token.generation)
    if means is not False and (found := tokens.rejected(token, answer)):
        return found
    return tokens.rejected_secrets(prepared.secrets.used, answer, means) if token is None else None


def unmade(thing: str, error: ExpressionError) -> NotSent | Refused:
    """A request that can't be made is refused for good, unless the operator can still mend it in the environment."""
    name = environment.unset(error.text)
    if name is not None:
        return NotSent(reason=f"the {thing} can't be made: {name} isn't set in the environment", ours=True)
    if isinstance(error, NotSet | NoToken):
        held = isinstance(error, NoToken)
        return NotSent(reason=f"the {thing} can't be made: {error}", ours=True, held=held)
    return Refused(reason=f"the {thing} can't be made: {error}")


def hidden(prepared: Prepared, found: Told) -> Told:
    """The same without any secret that the provider said back to us. Evidence is made without them."""
    names = [name for name in ("reason", "result", "poll") if hasattr(found, name)]
    return dataclasses.replace(found, **{name: prepared.secrets.hide(getattr(found, name)) for name in names})


def _since(began: float) -> float:
    return time.monotonic() - began
