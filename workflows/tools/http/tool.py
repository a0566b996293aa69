"""The kind http: one declared request for each of execute, verify, compensate, before and poll."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any, TypeVar

from workflows.outcomes import NotSent, Outcome, Pending, Refused, Sighting, Unknown, Verdict
from workflows.tools import urls
from workflows.tools.base import Tool
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import judging
from workflows.tools.http.answers import evidence, names_of
from workflows.tools.http.requests import Prepared, prepare
from workflows.tools.keeping import keepable
from workflows.tools.wire import Answer, Forbidden, Lost, NotLeft, exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workflows.outcomes import JsonObject
    from workflows.tools.call import Call

Evidence = dict[str, Any]
Told = TypeVar("Told", Outcome, Sighting)


class HttpTool(Tool):
    """Every answer is judged by the manifest; what ends without a whole answer is unknown, or provably not sent."""

    def send(self, call: Call) -> Outcome:
        part, names = self.spec[call.operation], self.names(call)
        try:
            prepared = prepare(part, names)
        except ExpressionError as error:
            return Refused(reason=f"the request can't be made: {error}")
        began = time.monotonic()
        try:
            answer = exchange(prepared.request, timeout=part["timeout"])
        except NotLeft as trouble:
            return NotSent(reason=str(trouble), evidence=evidence(prepared, None, _since(began)))
        except Forbidden as trouble:
            return Refused(reason=str(trouble), evidence=evidence(prepared, None, _since(began)))
        except Lost as trouble:
            return Unknown(reason=_reason(prepared, trouble), evidence=_partial(prepared, trouble, began))
        told = {**part, "asked": prepared.request.url, "retry_within": self.timings(call.operation).retry_within}
        first = call.operation == "compensate" and call.attempt == 1
        found = judging.outcome(told, answer, names, evidence(prepared, answer, _since(began)), first_undoing=first)
        return hidden(prepared, found)

    def look(self, call: Call) -> Sighting:
        verify = self.spec.get("verify") if call.operation == "execute" else self.spec[call.operation].get("verify")
        if verify is None:
            return super().look(call)
        return self.looked(verify, self.names(call), timeout=self.spec[call.operation]["timeout"])

    def looked(self, verify: Mapping[str, Any], names: Mapping[str, Any], *, timeout: float) -> Sighting:
        """One look as declared; a mailbox asked over HTTP uses it too."""
        read = _read(verify, names, timeout=timeout)
        if isinstance(read, Sighting):
            return read
        prepared, answer, kept = read
        return hidden(prepared, judging.sighting(verify, answer, names, kept))

    def poll(self, call: Call, poll: JsonObject) -> Outcome:
        part, names = self.spec[call.operation], self.names(call)
        declared = part["poll"]
        request = {
            "headers": declared.get("headers", _without_type(part.get("headers", {}))),
            "auth": declared.get("auth", part.get("auth")),
        }
        try:
            # The address came out of an answer: it must still lie where the request itself goes.
            url = urls.joined(urls.fill(part["url"], names), str(poll["url"]))
            prepared = prepare(request, names, method="GET", url=url)
        except ExpressionError as error:
            return Unknown(reason=f"the poll address can't be used: {error}")
        began = time.monotonic()
        try:
            answer = exchange(prepared.request, timeout=part["timeout"])
        except (NotLeft, Forbidden, Lost) as trouble:
            return Pending(poll=poll, evidence={**evidence(prepared, None, _since(began)), "trouble": str(trouble)})
        kept = evidence(prepared, answer, _since(began))
        return hidden(prepared, judging.polled(declared, answer, names, kept, poll))

    def before(self, call: Call) -> Sighting:
        declared = self.spec.get("before")
        if declared is None:
            return super().before(call)
        names = self.names(call)
        read = _read(declared, names, timeout=self.spec["execute"]["timeout"])
        if isinstance(read, Sighting):
            return read
        prepared, answer, kept = read
        if not 200 <= answer.status < 300:
            reason = f"status {answer.status} instead of what is to be kept"
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, reached=answer.status < 500, evidence=kept)
        names |= names_of(answer)
        try:
            image = keepable(fill(declared["keep"], names, "keep"))
            version = keepable(fill(declared.get("version"), names, "version"))
        except ExpressionError as error:
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=str(error), evidence=kept)
        return hidden(prepared, Sighting(verdict=Verdict.FOUND, result=image, evidence={**kept, "version": version}))


def hidden(prepared: Prepared, found: Told) -> Told:
    """The same without any secret that the provider said back to us."""
    changes = {
        name: prepared.secrets.hide(getattr(found, name))
        for name in ("reason", "result", "poll")
        if hasattr(found, name)
    }
    return dataclasses.replace(found, **changes)


def _read(
    part: Mapping[str, Any], names: Mapping[str, Any], *, timeout: float
) -> tuple[Prepared, Answer, Evidence] | Sighting:
    """A whole answer with its evidence, or the look that says why there is none."""
    try:
        prepared = prepare(part, names)
    except ExpressionError as error:
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=f"the look can't be made: {error}")
    began = time.monotonic()
    try:
        answer = exchange(prepared.request, timeout=timeout)
    except (NotLeft, Forbidden) as trouble:
        kept = evidence(prepared, None, _since(began))
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=str(trouble), reached=False, evidence=kept)
    except Lost as trouble:
        # Too large will be too large at the next look too: that is an answer, though a useless one.
        kept = _partial(prepared, trouble, began)
        reason = _reason(prepared, trouble)
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, reached=trouble.too_large, evidence=kept)
    return prepared, answer, evidence(prepared, answer, _since(began))


def _reason(prepared: Prepared, trouble: Lost) -> str:
    reason: str = prepared.secrets.hide(str(trouble))
    return reason


def _partial(prepared: Prepared, trouble: Lost, began: float) -> Evidence:
    return evidence(prepared, trouble.partial, _since(began), whole=False)


def _without_type(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "content-type"}


def _since(began: float) -> float:
    return time.monotonic() - began
