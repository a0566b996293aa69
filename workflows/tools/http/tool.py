"""The kind http: one declared request for each of execute, verify, compensate, before and poll."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from workflows.outcomes import Outcome, Pending, Refused, Sighting, Unknown, Verdict
from workflows.tools import urls
from workflows.tools.base import Tool
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import batches, drafting, images, judging, looking, places, standing
from workflows.tools.http.answers import names_of
from workflows.tools.http.attempt import attempt, hidden, unmade
from workflows.tools.http.requests import prepare
from workflows.tools.keeping import keepable
from workflows.tools.wire.messages import Deadline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workflows.outcomes import JsonObject
    from workflows.tools.call import Call
    from workflows.tools.draft import Draft


CONDITIONS = frozenset({"if-match", "if-unmodified-since"})


class HttpTool(Tool):
    """Every answer is judged by the manifest; what ends without a whole answer is unknown, or provably not sent."""

    @property
    def at_once(self) -> int:
        most: int = self.spec["execute"].get("batch", {}).get("max", 1)
        return most

    def send_all(self, calls: Sequence[Call]) -> list[Outcome]:
        part = {**self.spec["execute"], "retry_within": self.timings("execute").retry_within}
        part |= {"idempotency": self.promise("execute"), "exact": "value" in self.spec}
        return batches.send(part, [(call, self.names(call)) for call in calls])

    def send(self, call: Call) -> Outcome:
        if call.operation == "execute" and self.at_once > 1:
            return self.send_all([call])[0]
        part, names = self.spec[call.operation], self.names(call)
        timeout = part["timeout"]
        if call.operation == "compensate" and "before" in part:
            deadline = Deadline(timeout)
            present = standing.read(part["before"], names, call, self.value(call), deadline)
            if not isinstance(present, dict):
                return present
            names |= present
            timeout = deadline.seconds_left()
        try:
            prepared = prepare(part, names, tokens=call.tokens, exact="value" in self.spec)
        except ExpressionError as error:
            return unmade("request", error)
        promised = {**part, "idempotency": self.promise(call.operation)}
        found = attempt(prepared, timeout=timeout, means=lambda answer: judging.means(promised, answer, names))
        if not isinstance(found, tuple):
            return found
        answer, kept = found
        told = {
            **promised,
            "asked": prepared.request.url,
            "retry_within": self.timings(call.operation).retry_within,
            "conditional": call.operation == "compensate"
            and not CONDITIONS.isdisjoint(map(str.lower, part["headers"])),
        }
        first = call.operation == "compensate" and call.attempt == 1
        return hidden(prepared, judging.outcome(told, answer, names, kept, first_undoing=first))

    def look(self, call: Call) -> Sighting:
        verify = self.spec.get("verify") if call.operation == "execute" else self.spec[call.operation].get("verify")
        if verify is None:
            return super().look(call)
        timeout, written = self.spec[call.operation]["timeout"], call.result.get("version")
        names = self.names(call)
        seen = looking.look(verify, names, timeout=timeout, written=written, base=call.base, tokens=call.tokens)
        undone = seen.verdict not in (Verdict.ABSENT, Verdict.INCONCLUSIVE) or not seen.reached
        return seen if undone or not call.contested else self._as_made(call, seen)

    def _as_made(self, call: Call, seen: Sighting) -> Sighting:
        """It isn't undone. Whether what stands is still as we made it, by the act's own look; then it may be undone
        under the version that it has by now, unless the undoing writes the whole thing, with what others put in it."""
        if "verify" not in self.spec:
            return seen
        made = self.look(dataclasses.replace(call, operation="execute", key=call.forward_key, contested=False))
        if made.verdict is Verdict.FOUND:
            kept = {**made.evidence, "unchanged": self.spec["compensate"]["method"] != "PUT"}
            reason = "it stands as it was made, under another version"
            return Sighting(verdict=Verdict.ABSENT, reason=reason, evidence=kept)
        if made.verdict is Verdict.ABSENT:
            reason = f"neither it nor its undoing is there to be seen: {made.reason}"
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=made.evidence)
        return dataclasses.replace(made, reason=f"somebody changed it since: {made.reason}")

    def key_place(self, call: Call) -> str:
        try:
            scope = self.promise(call.operation).get("scope", "global")
            return places.of(self.spec[call.operation], self.names(call), scope)
        except ExpressionError:
            return ""  # it can't be sent either, and the send says why

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
            prepared = prepare(request, names, method="GET", url=url, tokens=call.tokens)
        except ExpressionError as error:
            return Unknown(reason=f"the poll address can't be used: {error}")
        found = attempt(prepared, timeout=part["timeout"], means=lambda answer: judging.means(declared, answer, names))
        if not isinstance(found, tuple):
            if isinstance(found, Refused) and found.rejected:
                return found
            return Pending(poll=poll, evidence={**found.evidence, "trouble": found.reason})
        answer, kept = found
        return hidden(prepared, judging.polled(declared, answer, names, kept, poll))

    def draft(self, call: Call) -> list[Draft]:
        part, names = self.spec[call.operation], self.names(call)
        how: dict[str, Any] = {"needs": self.needs(call.operation).send, "exact": "value" in self.spec}
        if call.operation == "execute":
            return [drafting.batched(part, names, **how) if self.at_once > 1 else drafting.draft(part, names, **how)]
        if "before" not in part:
            return [drafting.draft(part, names, **how)]
        first = drafting.draft(part["before"], names, needs=how["needs"], reads=True, note=standing.FIRST)
        return [first, drafting.draft(part, names | standing.expected(part["before"], call, self.value(call)), **how)]

    def draft_look(self, call: Call) -> list[Draft]:
        verify = self.spec.get("verify") if call.operation == "execute" else self.spec[call.operation].get("verify")
        if verify is None:
            return []
        return [drafting.draft(verify, self.names(call), needs=self.needs(call.operation).look, reads=True)]

    def before(self, call: Call) -> Sighting:
        declared = self.spec.get("before")
        if declared is None:
            return super().before(call)
        names = self.names(call)
        read = looking.read(declared, names, timeout=self.spec["execute"]["timeout"], tokens=call.tokens)
        if isinstance(read, Sighting):
            return read
        prepared, answer, kept = read
        if not 200 <= answer.status < 300:
            reason = f"status {answer.status} instead of what is to be kept"
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, reached=answer.status < 500, evidence=kept)
        names |= names_of(answer)
        try:
            image = keepable(images.kept(declared["keep"], names))
            version = keepable(fill(declared.get("version"), names, "version"))
        except ExpressionError as error:
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=str(error), evidence=kept)
        seen = Sighting(verdict=Verdict.FOUND, result=image, evidence={**kept, "version": version})
        return hidden(prepared, seen)


def _without_type(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "content-type"}
