"""One read over HTTP: a declared look, or the image before an act. Tools of kind http and mailboxes use it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from workflows.outcomes import Refused, Sighting, Unknown, Verdict
from workflows.tools import environment
from workflows.tools.expressions import ExpressionError
from workflows.tools.http import judging, pages
from workflows.tools.http.attempt import attempt, hidden
from workflows.tools.http.requests import Prepared, prepare
from workflows.tools.secrets import NotSet
from workflows.tools.tokens import NoToken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workflows.tools.http.attempt import Evidence, Means
    from workflows.tools.tokens import Token
    from workflows.tools.wire import Answer


def look(
    verify: Mapping[str, Any],
    names: Mapping[str, Any],
    *,
    timeout: float,
    written: Any = None,
    base: Any = None,
    tokens: Mapping[str, Token] | None = None,
) -> Sighting:
    """Asks the authority once and judges its answer by the conditions of `verify`. `written`: our write's version;
    `base`: that of the image from before it."""
    if "next" in verify:
        return pages.scan(
            verify,
            names,
            lambda url, seconds: read(verify, names, timeout=seconds, tokens=tokens, url=url),
            timeout=timeout,
            written=written,
        )
    found = read(verify, names, timeout=timeout, tokens=tokens)
    if isinstance(found, Sighting):
        return found
    prepared, answer, kept = found
    return hidden(prepared, judging.sighting(verify, answer, names, kept, written, base))


def unmade(error: ExpressionError) -> Sighting:
    """A look that can't be made now: the operator may mend the environment; what arguments say stays as it is."""
    mendable = isinstance(error, NotSet | NoToken) or environment.unset(error.text) is not None
    reason = f"the look can't be made: {error}"
    return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, reached=not mendable, unmade=not mendable)


def read(
    part: Mapping[str, Any],
    names: Mapping[str, Any],
    *,
    timeout: float,
    tokens: Mapping[str, Token] | None = None,
    url: str | None = None,
    means: Means | None = None,
) -> tuple[Prepared, Answer, Evidence] | Sighting:
    """A whole answer with its evidence, or the look that says why there is none. `url`: instead of the part's own;
    `means`: instead of what the part says of who asked."""
    try:
        prepared = prepare(part, names, tokens=tokens, url=url)
    except ExpressionError as error:
        return unmade(error)
    found = attempt(prepared, timeout=timeout, means=means or (lambda answer: judging.means(part, answer, names)))
    if isinstance(found, tuple):
        return prepared, *found
    # Too large will be too large at the next look too: that is an answer, though a useless one.
    reached = isinstance(found, Unknown) and "too_large" in found.evidence
    seen = Sighting(verdict=Verdict.INCONCLUSIVE, reason=found.reason, reached=reached, evidence=found.evidence)
    return dataclasses.replace(seen, rejected=found.rejected) if isinstance(found, Refused) else seen
