"""The kind caldav: one event under a UID of ours, never over another's, and taken away only as we left it."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workflows.errors import Flaw
from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused, Sighting, Unknown, Verdict
from workflows.tools import expressions, moments, urls
from workflows.tools.base import Tool
from workflows.tools.caldav import dav
from workflows.tools.caldav.event import Event, asked, written
from workflows.tools.caldav.sights import result, seen, still_there
from workflows.tools.draft import Draft
from workflows.tools.expressions import ExpressionError
from workflows.tools.http import drafting, judging, looking
from workflows.tools.http.attempt import attempt, hidden, unmade
from workflows.tools.http.requests import Prepared, prepare
from workflows.tools.keeping import sentence
from workflows.tools.wire.messages import Deadline

if TYPE_CHECKING:
    from workflows.tools.call import Call
    from workflows.tools.http.attempt import Evidence
    from workflows.tools.wire import Answer

GONE = (404, 410)
CHANGED = 412
UID_TAKEN = (403, 409)
TOO_MANY, BROKEN = 429, 500
NOT_THERE = "at the delete: not there, by whoever's act"
UNREAD = "the event couldn't be read before its delete"
PUT_HEADERS = {"Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}
AS_EVENT = {"Accept": "text/calendar"}
ETAG_READ = "(the ETag that was just read)"
READ_FIRST = "This is read first; nothing is deleted unless the event is still as it was booked."
SEARCHED_TOO = "Where nothing stands at this address, the calendar is searched for the event's UID."
# 412 says that something is there already, ours perhaps: a look decides.
PUT = {
    "method": "PUT",
    "acknowledged": "status in [200, 201, 204]",
    "temporary": "status == 429",
    "refused": "status >= 400 && status < 500 && !(status in [408, 412, 425, 429])",
}
DELETE = {
    "method": "DELETE",
    "acknowledged": "status in [200, 202, 204]",
    "temporary": "status == 429",
    "refused": "status >= 400 && status < 500 && !(status in [404, 408, 410, 425, 429])",
}


class CalDavTool(Tool):
    """`result`: {uid, url, etag}, from the answer to PUT or from a look."""

    def send(self, call: Call) -> Outcome:
        try:
            url, event = self._event(call)
            return self._put(call, url, event) if call.operation == "execute" else self._delete(call, url, event)
        except ExpressionError as error:
            return unmade("event", error)

    def look(self, call: Call) -> Sighting:
        try:
            url, event = self._event(call)
        except ExpressionError as error:
            return looking.unmade(error)
        read = self._get(call, url, timeout=self.spec[call.operation]["timeout"])
        if isinstance(read, Sighting):
            return read
        prepared, answer, kept = read
        forward = call.operation == "execute"
        if answer.status in GONE:
            return self._elsewhere(call, event, kept, f"status {answer.status}")
        if answer.status != 200:
            # No condition is declared, so the judge says what such an answer is worth.
            return hidden(prepared, judging.sighting({}, answer, {}, kept))
        return seen(event, url, answer, kept) if forward else still_there(kept)

    def draft(self, call: Call) -> list[Draft]:
        try:
            url, event = self._event(call)
        except ExpressionError as error:
            return [Draft(line=f"{self.name}, {call.operation}", flaw=str(error))]
        part: dict[str, Any] = {"auth": self._auth()}
        how: dict[str, Any] = {"needs": self.needs(call.operation).send, "url": url}
        names = self.names(call)
        if call.operation == "execute":
            event_text = written(event, stamp=_stamp(call))
            return [drafting.draft(part, names, method="PUT", plain=PUT_HEADERS, content=event_text, **how)]
        etag = "" if call.attempt > 1 else str(call.result.get("etag") or "")
        delete = drafting.draft(part, names, method="DELETE", plain={"If-Match": etag or ETAG_READ}, **how)
        if etag:
            return [delete]
        return [drafting.draft(part, names, method="GET", plain=AS_EVENT, reads=True, note=READ_FIRST, **how), delete]

    def draft_look(self, call: Call) -> list[Draft]:
        try:
            url, _ = self._event(call)
        except ExpressionError as error:
            return [Draft(line=f"{self.name}, look", reads=True, flaw=str(error))]
        how: dict[str, Any] = {"needs": self.needs(call.operation).look, "url": url, "method": "GET"}
        part = {"auth": self._auth()}
        return [drafting.draft(part, self.names(call), plain=AS_EVENT, reads=True, note=SEARCHED_TOO, **how)]

    def check(self, arguments: object) -> list[Flaw]:
        """Also refuses times that stand never or twice, where they come from the arguments alone."""
        flaws = super().check(arguments)
        if flaws or not isinstance(arguments, dict):
            return flaws
        part = {name: value for name, value in self.spec["execute"].items() if name in ("start", "end")}
        try:
            asked({"summary": "", **part}, {"args": arguments}, "")
        except ExpressionError as error:
            if "isn't known here" not in error.message:
                return [Flaw(_argument(part, error.path), error.text, error.message)]
        return []

    def _put(self, call: Call, url: str, event: Event) -> Outcome:
        prepared = self._prepared(call, "PUT", url, PUT_HEADERS, written(event, stamp=_stamp(call)))
        found = attempt(prepared, timeout=self.spec["execute"]["timeout"], means=dav.means)
        if not isinstance(found, tuple):
            return found
        answer, kept = found
        if answer.status == CHANGED:
            return Unknown(reason="status 412: something stands under this UID already", evidence=kept)
        if answer.status in UID_TAKEN and dav.ELSEWHERE in answer.body:
            return Unknown(reason=f"status {answer.status}: this UID stands at another address", evidence=kept)
        outcome = judging.outcome(self._told(call, PUT, url), answer, {}, kept, first_undoing=False)
        if isinstance(outcome, Acknowledged):
            times = {"start": moments.told(event.start), "end": moments.told(event.end)}
            return Acknowledged(result=result(event, url, answer), evidence={**kept, "asked": times})
        return hidden(prepared, outcome)

    def _delete(self, call: Call, url: str, event: Event) -> Outcome:
        """1. With the ETag that is known. 2. Without one, or where it changed: read, and only what is still ours.

        An ETag that failed is never named again."""
        deadline = Deadline(self.spec["compensate"]["timeout"])
        known = str(call.result.get("etag") or "")
        etag, again, failed = "" if call.attempt > 1 else known, False, known if call.attempt > 1 else ""
        while True:
            if not etag:
                read = self._own_etag(call, url, event, deadline, failed)
                if not isinstance(read, str):
                    return read
                etag, again = read, True
            prepared = self._prepared(call, "DELETE", url, {"If-Match": etag})
            found = attempt(prepared, timeout=deadline.seconds_left(), means=dav.means)
            if not isinstance(found, tuple):
                return found
            answer, kept = found
            if answer.status != CHANGED or again:
                break
            # 412 proves that nothing was deleted. Servers change events themselves; people do too, and that is kept.
            etag, failed = "", etag
        if answer.status in GONE:
            return Unknown(reason=f"status {answer.status} {NOT_THERE}", evidence=kept)
        first = call.attempt == 1
        return hidden(prepared, judging.outcome(self._told(call, DELETE, url), answer, {}, kept, first_undoing=first))

    def _own_etag(
        self, call: Call, url: str, event: Event, deadline: Deadline, failed: str
    ) -> str | NotSent | Refused | Unknown:
        """The present ETag of an event that is still as we booked it. A read that fails changed nothing: not sent."""
        read = self._get(call, url, timeout=deadline.seconds_left())
        if isinstance(read, Sighting):
            reason = f"{UNREAD}: {read.reason}"
            if read.rejected:
                return Refused(reason=reason, temporary=True, rejected=read.rejected, evidence=read.evidence)
            return NotSent(reason=reason, evidence=read.evidence)
        _, answer, kept = read
        if answer.status in GONE:
            return Unknown(reason=f"status {answer.status} {NOT_THERE}", evidence=kept)
        sight = seen(event, url, answer, kept)
        if answer.status != 200 or sight.verdict is Verdict.INCONCLUSIVE:
            return NotSent(reason=f"{UNREAD}: status {answer.status}: {sight.reason}", evidence=kept)
        if sight.verdict is not Verdict.FOUND:
            return Refused(reason=f"the event was changed since it was booked: {sight.reason}", evidence=kept)
        etag: str = answer.headers.get("etag", "*")
        if etag == failed:
            etag = self._etag_once_more(call, url, deadline)
        if etag in ("", failed):
            stale = f"the calendar still tells the ETag {failed} that just failed"
            return Refused(reason=sentence(stale), temporary=True, evidence=kept)
        return etag

    def _etag_once_more(self, call: Call, url: str, deadline: Deadline) -> str:
        """By PROPFIND, which caches keep apart from GET; "" where that tells nothing."""
        prepared = self._prepared(call, "PROPFIND", url, {**dav.XML, "Depth": "0"}, dav.ETAG)
        found = attempt(prepared, timeout=deadline.seconds_left(), means=dav.means)
        if not isinstance(found, tuple) or found[0].status != dav.MULTISTATUS:
            return ""
        try:
            return next((one.etag for one in dav.objects(found[0].body)), "")
        except ValueError:
            return ""

    def _elsewhere(self, call: Call, event: Event, kept: Evidence, reason: str) -> Sighting:
        """Nothing stands at our address. It is gone only if its UID stands nowhere in the calendar."""
        forward = call.operation == "execute"
        nowhere = Sighting(verdict=Verdict.ABSENT if forward else Verdict.FOUND, reason=reason, evidence=kept)
        calendar = self._calendar(call)
        prepared = self._prepared(call, "REPORT", calendar, {**dav.XML, "Depth": "1"}, dav.search(event.uid))
        found = attempt(prepared, timeout=self.spec[call.operation]["timeout"], means=dav.means)
        if not isinstance(found, tuple):
            rejected = found.rejected if isinstance(found, Refused) else None
            kept = dict(found.evidence)
            return Sighting(
                verdict=Verdict.INCONCLUSIVE, reason=found.reason, reached=False, rejected=rejected, evidence=kept
            )
        answer, told = found
        if answer.status == TOO_MANY or answer.status >= BROKEN:
            return hidden(prepared, judging.sighting({}, answer, {}, told))
        if answer.status != dav.MULTISTATUS:
            return nowhere  # a calendar that can't be searched: its address is all that there is to go by
        try:
            there = dav.objects(answer.body)
        except ValueError as error:
            unread = f"{reason}; the search can't be read: {sentence(str(error))}"
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason=unread, evidence=told)
        there = [one for one in there if event.uid.encode() in one.data]
        if not there:
            return nowhere
        if len(there) > 1:
            return Sighting(verdict=Verdict.SEVERAL, reason=f"{len(there)} events have this UID", evidence=told)
        if not forward:
            return still_there(told)
        (one,) = there
        url = urls.joined(calendar, one.href)
        sight = seen(event, url, dataclasses.replace(answer, headers={"etag": one.etag}, body=one.data), told)
        return hidden(prepared, dataclasses.replace(sight, reason=f"at another address: {sight.reason}"))

    def _event(self, call: Call) -> tuple[str, Event]:
        """The address and the event: both follow from the forward call's key and arguments, whatever came back."""
        part, names = self.spec["execute"], self.names(call)
        uid = call.key if call.operation == "execute" else call.forward_key
        url = f"{self._calendar(call)}{quote(uid, safe='')}.ics"
        if call.operation != "execute" and (known := call.result.get("url")):
            url = urls.joined(url, str(known))  # where a look found it, should the server have put it elsewhere
        return url, asked(part, names, uid)

    def _calendar(self, call: Call) -> str:
        return urls.fill(self.spec["execute"]["calendar"], self.names(call)).rstrip("/") + "/"

    def _get(self, call: Call, url: str, *, timeout: float) -> tuple[Prepared, Answer, Evidence] | Sighting:
        part = {"method": "GET", "url": url, "headers": AS_EVENT, "auth": self._auth()}
        return looking.read(part, self.names(call), timeout=timeout, tokens=call.tokens, means=dav.means)

    def _prepared(self, call: Call, method: str, url: str, headers: dict[str, str], content: bytes = b"") -> Prepared:
        part = {"auth": self._auth()}
        names, tokens = self.names(call), call.tokens
        return prepare(part, names, method=method, url=url, plain=headers, content=content, tokens=tokens)

    def _auth(self) -> Any:
        return self.spec["execute"].get("auth")

    def _told(self, call: Call, part: dict[str, str], url: str) -> dict[str, Any]:
        return {**part, "asked": url, "retry_within": self.timings(call.operation).retry_within}


def _stamp(call: Call) -> dt.datetime:
    return dt.datetime.fromisoformat(call.now) if call.now else dt.datetime.now(dt.UTC)


def _argument(part: dict[str, Any], path: str) -> str:
    """`arguments.start` for an error at `start.time`, where that is one argument and nothing else."""
    value: Any = part
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    sources = expressions.parse(value).sources if isinstance(value, str) else []
    paths = [path for source in sources for path in expressions.paths(source) if path[0] == "args"]
    return ".".join(["arguments", *map(str, paths[0][1:])]) if len(paths) == 1 else "arguments"
