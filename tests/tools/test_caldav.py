"""The kind caldav against Radicale, and against answers that Radicale would never give."""

from __future__ import annotations

import base64
import datetime as dt
import logging
import threading
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import icalendar
import pytest
import radicale.app
import radicale.config

from tests.tools.calls import KEY, PROFILE, call, tool
from tests.tools.servers import RawServer, answer
from workflows.outcomes import Acknowledged, NotSent, Refused, Unknown, Verdict
from workflows.tools.base import Tool
from workflows.tools.wire import Request, exchange
from workflows.tools.wire.exchange import forget

BOOKING = f"""
tools:
  t.t:
    version: 1
    kind: caldav
    profile: {PROFILE % "reversible_with_cost"}
    arguments: {{type: object, additionalProperties: true}}
    execute:
      calendar: "URL/demo/onboarding/"
      auth: {{basic: {{username: demo, password: "${{ secret('CALENDAR') }}"}}}}
      summary: "${{ args.summary }}"
      start: {{time: "${{ args.start }}", zone: "${{ args.zone }}"}}
      end: {{time: "${{ args.end }}", zone: "${{ args.zone }}"}}
      attendees: ["${{ args.email }}"]
      location: "Room; 1, upstairs"
      timeout: 3s
    compensate: {{residue: "Guests may have seen it."}}
"""
ARGUMENTS = {
    "summary": "Début: 50%\nof, all;",
    "email": "office@example.com",
    "start": "2026-03-30T14:00",
    "end": "2026-03-30T15:00",
    "zone": "Europe/Berlin",
}


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def calendar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a Radicale with one empty calendar."""
    configuration = radicale.config.load()
    settings = {
        "auth": {"type": "none"},
        "storage": {"filesystem_folder": str(tmp_path)},
        "rights": {"type": "owner_only"},
    }
    configuration.update(settings, "the test")
    logging.getLogger("radicale").setLevel(logging.CRITICAL)
    server: WSGIServer = make_server("127.0.0.1", 0, radicale.app.Application(configuration), handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("MAKEGOOD_SECRET_CALENDAR", "any-password")
    for method, path in (("MKCOL", "/demo/"), ("MKCALENDAR", "/demo/onboarding/")):
        ask(method, url + path)
    yield url
    forget()
    server.shutdown()
    server.server_close()
    thread.join(60)


@pytest.fixture
def booking(calendar: str) -> Tool:
    return tool(BOOKING.replace("URL", calendar))


def ask(method: str, url: str, body: bytes = b"", **headers: str) -> int:
    login = base64.b64encode(b"demo:any-password").decode()
    fields = {"Authorization": f"Basic {login}", "Content-Type": "text/calendar"} | headers
    return exchange(Request(method=method, url=url, headers=tuple(fields.items()), body=body), timeout=5).status


def event(calendar: str) -> bytes:
    login = base64.b64encode(b"demo:any-password").decode()
    headers = (("Authorization", f"Basic {login}"),)
    return exchange(Request(method="GET", url=f"{calendar}/demo/onboarding/{KEY}.ics", headers=headers), timeout=5).body


def undoing(**values: Any) -> Any:
    return call("compensate", arguments=ARGUMENTS, key="c" * 26, forward_key=KEY, **values)


def test_a_meeting_is_booked_found_as_asked_and_cancelled(calendar: str, booking: Tool) -> None:
    forward = call(arguments=ARGUMENTS)
    assert booking.look(forward).verdict is Verdict.ABSENT
    sent = booking.send(forward)
    assert isinstance(sent, Acknowledged)
    assert sent.result["uid"] == KEY
    assert sent.evidence["asked"]["start"] == {
        "wall": "2026-03-30T14:00:00",
        "zone": "Europe/Berlin",
        "instant": "2026-03-30T12:00:00Z",
    }
    assert "any-password" not in repr(sent)
    entry: Any = icalendar.Calendar.from_ical(event(calendar)).walk("VEVENT")[0]
    assert entry["dtstart"].dt == dt.datetime(2026, 3, 30, 14, 0, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    assert b"BEGIN:VTIMEZONE" in event(calendar)
    seen = booking.look(forward)
    assert (seen.verdict, seen.reason) == (Verdict.FOUND, "status 200")
    assert seen.result == sent.result

    undo = undoing(result=dict(sent.result))
    assert booking.look(undo).verdict is Verdict.ABSENT
    assert isinstance(booking.send(undo), Acknowledged)
    assert booking.look(undo).verdict is Verdict.FOUND
    again = booking.send(undo)
    assert isinstance(again, Unknown)
    assert "not there, by whoever's act" in again.reason


def test_a_draft_of_a_booking_or_its_undoing_is_not_what_is_sent(calendar: str, booking: Tool) -> None:
    forward = call(arguments=ARGUMENTS)
    (draft,) = booking.draft(forward)
    (look,) = booking.draft_look(forward)
    assert booking.look(forward).verdict is Verdict.ABSENT, "a draft calls nobody"
    sent = booking.send(forward)
    assert draft.digest == sent.evidence["request"]["digest"]
    assert (draft.line, look.line) == (
        f"PUT {calendar}/demo/onboarding/{KEY}.ics",
        f"GET {calendar}/demo/onboarding/{KEY}.ics",
    )
    assert dict(draft.headers)["Authorization"] == "Basic [hidden]"
    assert f"UID:{KEY}" in draft.body
    assert isinstance(sent, Acknowledged)
    (delete,) = booking.draft(undoing(result=dict(sent.result)))
    assert dict(delete.headers)["If-Match"] == sent.result["etag"]
    read, delete = booking.draft(undoing(result=dict(sent.result), attempt=2))
    assert (read.reads, delete.line.split()[0]) == (True, "DELETE")
    undone = booking.send(undoing(result=dict(sent.result)))
    assert booking.draft(undoing(result=dict(sent.result)))[0].digest == undone.evidence["request"]["digest"]


def test_a_second_booking_under_one_key_changes_nothing_and_is_looked_at(booking: Tool) -> None:
    assert isinstance(booking.send(call(arguments=ARGUMENTS)), Acknowledged)
    other = call(arguments=ARGUMENTS | {"summary": "Another"})
    twice = booking.send(other)
    assert isinstance(twice, Unknown)
    assert "412" in twice.reason
    seen = booking.look(other)
    assert seen.verdict is Verdict.DIFFERS
    assert "summary is" in seen.reason


def test_an_event_that_a_server_rewrote_is_still_ours_and_one_that_a_person_changed_is_not(
    calendar: str, booking: Tool
) -> None:
    sent = booking.send(call(arguments=ARGUMENTS))
    assert isinstance(sent, Acknowledged)
    address = str(sent.result["url"])
    rewritten = (
        event(calendar).replace(b"DTEND", b"X-SEEN:yes\r\nDTEND").replace(b"ATTENDEE", b"ATTENDEE;PARTSTAT=ACCEPTED")
    )
    assert ask("PUT", address, rewritten) in (200, 201, 204)
    assert booking.look(call(arguments=ARGUMENTS)).verdict is Verdict.FOUND
    elsewhere = rewritten.replace(b"TZID=Europe/Berlin", b"TZID=Europe/Madrid").replace(
        b"TZID:Europe/Berlin", b"TZID:Europe/Madrid"
    )
    assert ask("PUT", address, elsewhere) in (200, 201, 204)
    other = booking.look(call(arguments=ARGUMENTS))
    assert (other.verdict, "zones" in other.reason) == (Verdict.DIFFERS, True), "the same instant, but another zone"
    moved = rewritten.replace(b"20260330T140000", b"20260330T143000")
    assert ask("PUT", address, moved) in (200, 201, 204)
    seen = booking.look(call(arguments=ARGUMENTS))
    assert (seen.verdict, "start is 2026-03-30 12:30:00+00:00" in seen.reason) == (Verdict.DIFFERS, True)
    kept = booking.send(undoing(result=dict(sent.result)))
    assert isinstance(kept, Refused)
    assert "was changed since it was booked: start is" in kept.reason
    assert ask("PUT", address, rewritten) in (200, 201, 204)
    assert isinstance(booking.send(undoing(result=dict(sent.result))), Acknowledged)


def test_without_a_known_etag_only_what_is_still_ours_is_deleted(booking: Tool) -> None:
    missing = booking.send(undoing())
    assert isinstance(missing, Unknown)
    booking.send(call(arguments=ARGUMENTS))
    assert isinstance(booking.send(undoing()), Acknowledged)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"start": "2026-03-29T02:30"}, "doesn't exist in Europe/Berlin"),
        ({"start": "2026-10-25T02:30", "end": "2026-10-25T05:00"}, "stands twice in Europe/Berlin"),
        ({"start": "2026-03-30T14:00+02:00"}, "without an offset"),
        ({"start": "2026-13-30T14:00"}, "is no time"),
        ({"zone": "Mars/Olympus"}, "is no IANA time zone"),
        ({"zone": "../../etc/passwd"}, "is no IANA time zone"),
        ({"end": "2026-03-30T14:00"}, "must be after the start"),
        ({"email": "a@example.com\r\nATTENDEE:mailto:b@example.com"}, "is no single mail address"),
    ],
)
def test_what_no_calendar_can_hold_is_refused_before_it_is_sent(changes: dict[str, str], says: str) -> None:
    made = tool(BOOKING.replace("URL", "http://127.0.0.1:1"))
    outcome = made.send(call(arguments=ARGUMENTS | changes))
    assert isinstance(outcome, Refused)
    assert says in outcome.reason
    flaws = made.check(ARGUMENTS | changes)
    if "email" not in changes:
        assert says in flaws[0].message
        assert flaws[0].path.startswith("arguments")
    assert made.check(ARGUMENTS) == []


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (answer(b"", 412), Unknown, "412"),
        (answer(b"<error/>", 403, "application/xml"), Refused, "status 403: <error/>"),
        (answer(b"locked by its organiser", 423, "text/plain"), Refused, "status 423: locked by its organiser"),
        (answer(b"", 429, Retry_After="9"), Refused, "status 429"),
        (answer(b"", 503), Unknown, "status 503"),
        (answer(b"", 302, Location="/login"), Unknown, "redirect 302"),
        (answer(b"", 308, Location="/dav"), Refused, "redirect 308"),
        (b"", Unknown, "without an answer"),
    ],
)
def test_an_answer_to_a_booking_is_taken_for_what_it_is(
    monkeypatch: pytest.MonkeyPatch, reply: bytes, kind: type, says: str
) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_CALENDAR", "x")
    with RawServer([reply]) as raw:
        outcome = tool(BOOKING.replace("URL", raw.url)).send(call(arguments=ARGUMENTS))
        forget()
        assert b"If-None-Match: *" in raw.requests[0]
    assert isinstance(outcome, kind)
    assert says in outcome.reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reply", "verdict", "reached"),
    [
        (answer(b"", 410, Connection="close"), Verdict.ABSENT, True),  # it is asked once more, on another connection
        (answer(b"", 503), Verdict.INCONCLUSIVE, False),
        (answer(b"", 401), Verdict.INCONCLUSIVE, False),
        (answer(b"<html>", 200, "text/html"), Verdict.INCONCLUSIVE, True),
        (answer(b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", 200, "text/calendar"), Verdict.DIFFERS, True),
        (b"", Verdict.INCONCLUSIVE, False),
    ],
)
def test_a_look_into_a_calendar_believes_only_a_calendar(
    monkeypatch: pytest.MonkeyPatch, reply: bytes, verdict: Verdict, reached: bool
) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_CALENDAR", "x")
    with RawServer([reply], [answer(b"", 405)]) as raw:
        seen = tool(BOOKING.replace("URL", raw.url)).look(call(arguments=ARGUMENTS))
        forget()
    assert (seen.verdict, seen.reached) == (verdict, reached)


def test_an_etag_is_never_read_as_an_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_CALENDAR", "hunter2-token")
    etag = "\"${ secret('CALENDAR') }\""
    with RawServer([answer(b"", 204)]) as raw:
        made = tool(BOOKING.replace("URL", raw.url))
        assert isinstance(made.send(undoing(result={"etag": etag})), Acknowledged)
        forget()
        assert f"If-Match: {etag}".encode() in raw.requests[0]


def test_a_calendar_whose_secret_is_not_set_waits_for_the_operator() -> None:
    outcome = tool(BOOKING.replace("URL", "http://127.0.0.1:1")).send(call(arguments=ARGUMENTS))
    assert isinstance(outcome, NotSent)
    assert "MAKEGOOD_SECRET_CALENDAR" in outcome.reason
