"""What an event that was read is worth: ours as asked, another's, or no calendar at all. For the kind caldav."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows.outcomes import Sighting, Verdict
from workflows.tools.caldav.event import Event, differences
from workflows.tools.keeping import keepable, sentence

if TYPE_CHECKING:
    from workflows.tools.http.attempt import Evidence
    from workflows.tools.wire import Answer


def seen(event: Event, url: str, answer: Answer, kept: Evidence) -> Sighting:
    try:
        wrong = differences(event, answer.body)
    except ValueError as error:
        reason = f"status {answer.status}: no calendar can be read: {sentence(str(error))}"
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=kept)
    if wrong:
        return Sighting(verdict=Verdict.DIFFERS, reason=sentence("; ".join(wrong), 500), evidence=kept)
    told = result(event, url, answer)
    return Sighting(verdict=Verdict.FOUND, reason=f"status {answer.status}", result=told, evidence=kept)


def still_there(kept: Evidence) -> Sighting:
    return Sighting(verdict=Verdict.ABSENT, reason="status 200: the event still stands", evidence=kept)


def result(event: Event, url: str, answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = keepable({"uid": event.uid, "url": url, "etag": answer.headers.get("etag", "")})
    return told
