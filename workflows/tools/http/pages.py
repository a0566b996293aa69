"""A look over a list that comes in pages: all of them are read, or what isn't there proves nothing."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from workflows.outcomes import Sighting, Verdict
from workflows.tools import urls
from workflows.tools.defaults import LONGEST_SCAN
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import judging
from workflows.tools.http.answers import names_of
from workflows.tools.http.attempt import hidden
from workflows.tools.wire.messages import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workflows.tools.http.attempt import Evidence
    from workflows.tools.http.requests import Prepared
    from workflows.tools.wire import Answer

    Page = tuple[Prepared, Answer, Evidence] | Sighting
    Read = Callable[[str | None, float], Page]


def scan(
    verify: Mapping[str, Any], names: Mapping[str, Any], read: Read, *, timeout: float, written: Any = None
) -> Sighting:
    """Judges page after page; `read(url or None, seconds)` gives one.

    1. Of an act one page that shows it is enough, of an undoing one page that still does. Twice is several.
    2. What no page shows is proved only by the last page. A page that is missing, can't be read, or lies beyond
       `pages` makes the look inconclusive.
    """
    proof = Verdict.ABSENT if "forward" in names else Verdict.FOUND
    deadline, url, proved = Deadline(LONGEST_SCAN), None, None
    for number in range(1, verify["pages"] + 1):
        page = read(url, min(timeout, deadline.seconds_left()))
        if isinstance(page, Sighting):
            return proved or _missing(number, page)
        prepared, answer, kept = page
        seen = hidden(prepared, judging.sighting(verify, answer, names, {**kept, "page": number}, written))
        if seen.verdict is proof and proved is not None and proof is Verdict.FOUND:
            return dataclasses.replace(seen, verdict=Verdict.SEVERAL, reason=f"found on page {number} once more")
        if seen.verdict is proof:
            proved = seen
        elif seen.verdict is Verdict.INCONCLUSIVE:
            return proved or _missing(number, seen)
        elif seen.verdict in (Verdict.SEVERAL, Verdict.DIFFERS):
            return seen
        try:
            url = _next(verify["next"], prepared.request.url, {**names, **names_of(answer)})
        except ExpressionError as error:
            return proved or _missing(number + 1, dataclasses.replace(seen, reason=f"next: {error.message}"))
        if url is None:
            return proved or seen
    return proved or _missing(verify["pages"] + 1, dataclasses.replace(seen, reason="it is one more than are read"))


def _next(text: str, asked: str, names: Mapping[str, Any]) -> str | None:
    """The address of the following page, on the same host; null or empty: there is none."""
    found = fill(text, names, "next")
    return urls.joined(asked, str(found)) if found else None


def _missing(number: int, seen: Sighting) -> Sighting:
    reason = f"page {number} is missing: {seen.reason}"
    return dataclasses.replace(seen, verdict=Verdict.INCONCLUSIVE, reason=reason, result={})
