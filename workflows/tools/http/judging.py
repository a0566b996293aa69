"""Decides what an answer means, by the manifest's own expressions in their fixed order. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows.outcomes import CHANGED, Acknowledged, Outcome, Pending, Refused, Sighting, Unknown, Verdict
from workflows.tools import defaults, expressions, retry_after, urls, versions
from workflows.tools.expressions import ExpressionError
from workflows.tools.http import matching
from workflows.tools.http.answers import is_unreadable, names_of, said
from workflows.tools.keeping import keepable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workflows.tools.wire import Answer

# A provider may ask for a day; beyond the time for retries the engine gives up anyway.
LOOK_WAITS_AT_MOST = 60.0
GONE = (404, 410)
REDIRECTS = range(300, 400)
# These say "ask there instead". 302 and 303 are also how forms answer once they have acted, so they prove nothing.
ELSEWHERE = (301, 307, 308)
CONTESTED = (409, 412)  # of a request that names a version
READS_BODY = ("acknowledged", "pending", "several", "differs", "found", "absent", "done", "failed")


def outcome(
    part: Mapping[str, Any],
    answer: Answer,
    known: Mapping[str, Any],
    evidence: Mapping[str, Any],
    *,
    first_undoing: bool,
) -> Outcome:
    """What one send did. `first_undoing`: the first attempt of a compensation, whose 404 proves nothing."""
    names = {**known, **names_of(answer)}
    asked = wait(answer, part["retry_within"])
    words = f"status {answer.status}: {said(answer, names)}".removesuffix(": ")
    promise = part.get("idempotency") or {}
    replayed = is_replay(promise, answer)
    if replayed:
        evidence = {**evidence, "replayed": True}
    if holds(promise.get("in_flight"), names):
        return Unknown(reason=words, in_flight=True, retry_after=asked, evidence=evidence)
    if holds(promise.get("mismatch"), names):
        return mismatched(words, evidence)
    if 200 <= answer.status < 300 and reads_body(part) and is_unreadable(answer):
        return Unknown(
            reason=f"{_kind(answer)} under status {answer.status}, where JSON was expected",
            replayed=replayed,
            evidence=evidence,
        )
    if first_undoing and part["method"] == "DELETE" and answer.status in GONE:
        return Unknown(
            reason=f"status {answer.status} on the first delete: not there, by whoever's act", evidence=evidence
        )
    if holds(part.get("acknowledged"), names):
        partly = {"partial": True} if holds(part.get("partial"), names) else {}
        return _acknowledged({**part.get("result", {}), **partly}, names, evidence)
    if holds(part.get("pending"), names):
        return _pending(part, names, evidence)
    if holds(part.get("temporary"), names):
        # What the provider keeps under our key it would only say again.
        kept = replayed or promise.get("keeps") == "all"
        return Refused(reason=words, temporary=not kept, retry_after=asked, evidence=evidence)
    if holds(part.get("refused"), names):
        changed = part.get("conditional") and answer.status in CONTESTED
        return Refused(reason=words, code=CHANGED if changed else "", evidence=evidence)
    if answer.status in REDIRECTS:
        to = answer.headers.get("location", "nowhere")[:200]
        reason = f"redirect {answer.status} to {to} isn't followed; correct the address"
        return (Refused if answer.status in ELSEWHERE else Unknown)(reason=reason, evidence=evidence)
    return Unknown(reason=f"{words} (nothing declared matches)", replayed=replayed, evidence=evidence)


def means(part: Mapping[str, Any], answer: Answer, known: Mapping[str, Any]) -> bool | None:
    """Whether an answer refuses who asked, by the manifest: by `unauthorized` where that is declared; a 403 to which
    the author gave a meaning speaks of the act. None: it says nothing."""
    names = {**known, **names_of(answer)}
    if "unauthorized" in part:
        return holds(part["unauthorized"], names)
    if answer.status != 403:
        return None
    texts = [part.get(name) for name in OF_AN_ANSWER] + [(part.get("idempotency") or {}).get(n) for n in OF_A_KEY]
    return False if any(holds(text, names) for text in texts if text not in UNSAID) else None


OF_AN_ANSWER = (
    "acknowledged", "pending", "temporary", "refused", "several", "gone", "differs", "found", "absent", "done",
    "failed",
)  # fmt: skip
OF_A_KEY = ("in_flight", "mismatch")
UNSAID = (None, defaults.REFUSED, defaults.REFUSED_KEYED, defaults.REFUSED_DELETE)  # what no author wrote


def mismatched(words: str, evidence: Mapping[str, Any]) -> Refused:
    return Refused(reason=f"our key came with another request before: {words}", mismatch=True, evidence=evidence)


def is_replay(promise: Mapping[str, Any], answer: Answer) -> bool:
    """Whether the provider marks this answer as one that it gave before."""
    marker = promise.get("marker")
    return marker is not None and answer.headers.get(marker.lower(), "false").strip().lower() not in ("", "false", "0")


def polled(
    poll: Mapping[str, Any],
    answer: Answer,
    known: Mapping[str, Any],
    evidence: Mapping[str, Any],
    kept: Mapping[str, Any],
) -> Outcome:
    """How accepted work goes on. What can't be read now may be readable at the next poll."""
    names = {**known, **names_of(answer)}
    if answer.status in GONE or answer.status in REDIRECTS:
        return Unknown(reason=f"status {answer.status} at the poll address", evidence=evidence)
    if holds(poll["done"], names):
        return _acknowledged(poll.get("result", {}), names, evidence)
    if holds(poll.get("failed"), names):
        return Refused(reason=f"the work failed: {said(answer, names)}", evidence=evidence)
    return Pending(poll=kept, evidence=evidence)


def sighting(
    verify: Mapping[str, Any],
    answer: Answer,
    known: Mapping[str, Any],
    evidence: Mapping[str, Any],
    written: Any = None,
    base: Any = None,
) -> Sighting:
    """What one look showed: several, differs, found, absent in this order; an expression that errors ends the look.

    `written`: the version of our write, where both tell one; a look that saw an older state proves nothing. `base`:
    that of the image from before it, for a write whose answer told none."""
    if answer.status == 429 or answer.status >= 500:
        asked = wait(answer, LOOK_WAITS_AT_MOST)
        reason = f"status {answer.status}: the authority can't be asked"
        return Sighting(
            verdict=Verdict.INCONCLUSIVE, reason=reason, reached=False, retry_after=asked, evidence=evidence
        )
    names = {**known, **names_of(answer)}
    if holds(verify.get("gone"), names):
        reason = f"status {answer.status}: it existed, and is gone"
        return Sighting(verdict=Verdict.DIFFERS, gone=True, reason=reason, evidence=evidence)
    if 200 <= answer.status < 300 and reads_body(verify) and is_unreadable(answer):
        return _inconclusive(f"{_kind(answer)} under status {answer.status}, where JSON was expected", evidence)
    if "match" in verify and 200 <= answer.status < 300:
        try:
            names |= matching.matched(verify["match"], names)
        except ExpressionError as error:
            return _inconclusive(f"status {answer.status}: match: {error.message}", evidence)
    for verdict in (Verdict.SEVERAL, Verdict.DIFFERS, Verdict.FOUND, Verdict.ABSENT):
        text = verify.get(verdict.value)
        try:
            if text is None or not expressions.compile(text, names).holds(names):
                continue
            result = _result(verify.get("result", {}), names) if verdict is Verdict.FOUND else {}
        except ExpressionError as error:
            return _inconclusive(f"status {answer.status}: {verdict.value}: {error.message}", evidence)
        seen = Sighting(verdict=verdict, reason=f"status {answer.status}", result=result, evidence=evidence)
        version = _version(verify, names)
        if written is None:
            return versions.unchanged(seen, version, base)
        return versions.weighed(seen, version, written, undoing="forward" in known)
    return _inconclusive(f"status {answer.status}: {said(answer, names)} (nothing declared matches)", evidence)


def reads_body(part: Mapping[str, Any]) -> bool:
    """Whether what is expected of an answer can only be read as JSON."""
    texts = [part[name] for name in READS_BODY if part.get(name)]
    texts += [
        source for _, text in expressions.texts_in(part.get("result", {})) for source in expressions.parse(text).sources
    ]
    return any(path[0] == "body" for text in texts for path in expressions.paths(text))


def holds(text: str | None, names: Mapping[str, Any]) -> bool:
    """An expression that errors, or isn't boolean, counts as false: what nothing matches is unknown."""
    try:
        return text is not None and expressions.compile(text, names).holds(names)
    except ExpressionError:
        return False


def _acknowledged(result: Mapping[str, Any], names: Mapping[str, Any], evidence: Mapping[str, Any]) -> Outcome:
    try:
        return Acknowledged(result=_result(result, names), evidence=evidence)
    except ExpressionError as error:
        return Unknown(reason=f"acknowledged, but {error.path}: {error.message}", evidence=evidence)


def _pending(part: Mapping[str, Any], names: Mapping[str, Any], evidence: Mapping[str, Any]) -> Outcome:
    template = expressions.parse(part["poll"]["url"])
    try:
        url = str(template.fill(names)) if template.whole else urls.fill(part["poll"]["url"], names)
        url = urls.joined(part["asked"], url)
    except ExpressionError as error:
        return Unknown(reason=f"accepted, but the poll address can't be used: {error.message}", evidence=evidence)
    return Pending(poll={"url": keepable(url)}, evidence=evidence)


def _result(result: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    filled: dict[str, Any] = keepable(expressions.fill(dict(result), names, "result"))
    return filled


def _version(verify: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    """None where none is declared, or this answer has none: an error page, say."""
    try:
        return keepable(expressions.fill(verify.get("version"), names))
    except ExpressionError:
        return None


def _inconclusive(reason: str, evidence: Mapping[str, Any]) -> Sighting:
    return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=evidence)


def wait(answer: Answer, most: float) -> float | None:
    return retry_after.seconds(answer.headers.get("retry-after"), answer.headers.get("date"), most=most)


def _kind(answer: Answer) -> str:
    return answer.headers.get("content-type", "no content type").split(";", 1)[0][:80] or "no content type"
