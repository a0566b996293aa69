"""C12: a calendar that answers 412 and 409 to our own event, and tells ETags that are over. Against Radicale."""

from __future__ import annotations

import dataclasses
import logging
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
import radicale.app
import radicale.config

from tests.blackbox.conftest import Story
from workflows.models import Attempt
from workflows.tools.wire import Request, exchange
from workflows.tools.wire.exchange import forget

MANIFEST = """
tools:
  calendar.book:
    version: 1
    kind: caldav
    profile: {effect_class: reversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [], owner: calendar-desk, customer_visible: true, residue: "A meeting."}
    arguments: {type: object, additionalProperties: true}
    retry: {attempts: 40, first: 200ms, max: 200ms, within: 5m}
    execute:
      calendar: "${ env.CALENDAR_URL }/demo/onboarding/"
      auth: {basic: {username: demo, password: "${ secret('CALENDAR') }"}}
      summary: "Onboarding"
      start: {time: "2026-03-30T14:00", zone: Europe/Berlin}
      end: {time: "2026-03-30T15:00", zone: Europe/Berlin}
      late: 200ms
    verify: {settle: 0s, every: 20ms, looks: 3}
    compensate: {}
  crm.refuses:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none,
              autonomy: auto, privileges: [], owner: crm-desk, customer_visible: false, residue: ""}
    arguments: {type: object, additionalProperties: true}
    execute: {method: POST, url: "${ env.WORLD_URL }/refusals", json: {reference: "${ key }"}}
workflows:
  onboarding:
    version: 1
    owner: onboarding-desk
    input: {type: object, additionalProperties: true}
    steps:
      - {name: meeting, tool: calendar.book, arguments: {}}
      - {name: record, tool: crm.refuses, arguments: {}}
"""
Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Calendar:
    """A Radicale behind a proxy of ours. `asked`: (method, path, If-Match, status) as they went by."""

    def __init__(self, app: Wsgi) -> None:
        self.app = app
        self.url = ""
        self.asked: list[tuple[str, str, str, str]] = []
        self.cut = 0  # so many PUTs are carried out and answered with a gateway's page
        self.stale: dict[str, str] = {}  # method -> the ETag that is told to it instead of the present one
        self.hidden = 0  # so many looks find nothing yet
        self.closed: set[str] = set()  # methods that aren't served
        self.rename = False  # a PUT is stored at another address first, as by a twin of the server

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        told: list[Any] = []

        def remember(status: str, headers: list[tuple[str, str]], *_: Any) -> None:
            told[:] = [status, headers]

        if method == "PUT" and self.rename:
            self.rename = False
            body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            self.do("PUT", path.replace(".ics", "-moved.ics"), body)
            environ["wsgi.input"] = Body(body)
        if method in self.closed or (self.hidden and method in ("GET", "REPORT")):
            self.hidden -= method == "REPORT"  # the last question of a look
            start("404 Not Found" if method == "GET" else "405 Method Not Allowed", [("Content-Length", "0")])
            return [b""]
        parts = b"".join(self.app(environ, remember))
        status, headers = told
        self.asked.append((method, path, environ.get("HTTP_IF_MATCH", ""), status[:3]))
        if method == "PUT" and self.cut:
            self.cut -= 1
            start("502 Bad Gateway", [("Content-Type", "text/html"), ("Content-Length", "0")])
            return [b""]
        if method in self.stale:
            headers = [(k, self.stale[method] if k.lower() == "etag" else v) for k, v in headers]
        start(status, headers)
        return [parts]

    def do(self, method: str, path: str, body: bytes = b"", **headers: str) -> int:
        fields = (("Content-Type", "text/calendar"), ("Authorization", "Basic ZGVtbzp4"), *headers.items())
        return exchange(Request(method=method, url=self.url + path, headers=fields, body=body), timeout=10).status

    def text(self, path: str) -> bytes:
        login = (("Authorization", "Basic ZGVtbzp4"),)
        return exchange(Request(method="GET", url=self.url + path, headers=login), timeout=10).body

    def events(self) -> int:
        return self.text("/demo/onboarding/").count(b"BEGIN:VEVENT")

    def statuses(self, method: str) -> list[str]:
        return [status for asked, _, _, status in self.asked if asked == method]


class Body:
    """What was read once, to be read again."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1) -> bytes:
        part, self._data = (self._data, b"") if size < 0 else (self._data[:size], self._data[size:])
        return part


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What the API says of the meeting."""

    state: str
    meeting: str
    url: str
    sends: dict[str, list[str]]  # outcomes, by kind of effect
    reasons: list[str]  # of the forward sends


def seen(story: Story, run_id: str) -> Told:
    story.settle()
    run = story.agent.get(f"runs/{run_id}")
    effects = {e["kind"]: story.agent.get(f"effects/{e['id']}") for e in run["effects"] if e["step"] == "meeting"}
    return Told(
        run["state"],
        f"{effects['forward']['state']} {effects['forward']['world']}",
        effects["forward"]["result"]["url"],
        {kind: [a["outcome"] for a in e["attempts"]] for kind, e in effects.items()},
        [a["reason"] for a in effects["forward"]["attempts"]],
    )


class Threaded(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
        pass


@pytest.fixture
def calendar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Calendar]:
    configuration = radicale.config.load()
    settings = {
        "auth": {"type": "none"},
        "storage": {"filesystem_folder": str(tmp_path)},
        "rights": {"type": "owner_only"},
    }
    configuration.update(settings, "the test")
    logging.getLogger("radicale").setLevel(logging.CRITICAL)
    proxy = Calendar(radicale.app.Application(configuration))
    server = make_server("127.0.0.1", 0, proxy, server_class=Threaded, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    for method, path in (("MKCOL", "/demo/"), ("MKCALENDAR", "/demo/onboarding/")):
        proxy.do(method, path)
    yield proxy
    forget()
    server.shutdown()
    server.server_close()
    thread.join(60)


@pytest.fixture
def booked(story: Story, calendar: Calendar, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("MAKEGOOD_ENV", "WORLD_URL,CALENDAR_URL")
    monkeypatch.setenv("CALENDAR_URL", calendar.url)
    monkeypatch.setenv("MAKEGOOD_SECRET_CALENDAR", "x")
    story.apply(MANIFEST)
    return story


def test_a_booking_whose_answer_a_gateway_lost_is_found_and_stands_once(booked: Story, calendar: Calendar) -> None:
    calendar.cut = 1
    told = seen(booked, booked.agent.start())
    assert told.sends["forward"] == ["unknown"]
    assert (told.state, calendar.events(), calendar.statuses("PUT")) == ("completed", 1, ["201"])


def test_our_own_event_under_412_is_ours(booked: Story, calendar: Calendar) -> None:
    """The first PUT was stored, its answer lost, and a search that came too early let the second out."""
    calendar.cut = 1
    calendar.hidden = 1
    told = seen(booked, booked.agent.start())
    assert calendar.statuses("PUT") == ["201", "412"]
    assert told.sends["forward"] == ["unknown", "unknown"]
    assert "status 412" in told.reasons[-1]
    assert (told.state, calendar.events()) == ("completed", 1)


def test_an_event_that_the_server_put_elsewhere_is_found_by_its_uid_and_cancelled_there(
    booked: Story, calendar: Calendar
) -> None:
    calendar.rename = True
    booked.world.script(method="POST", path="/refusals", answer="422")
    told = seen(booked, booked.agent.start())
    assert calendar.statuses("PUT") == ["201", "409"]
    assert told.sends["forward"] == ["unknown"]
    assert told.url.endswith("-moved.ics")
    assert (told.state, told.meeting, calendar.events()) == ("compensated", "undone gone", 0)


def test_a_stale_etag_is_read_again_by_a_second_method_and_never_named_twice(booked: Story, calendar: Calendar) -> None:
    calendar.stale = {"PUT": '"old"', "GET": '"old"'}
    booked.world.script(method="POST", path="/refusals", answer="422")
    told = seen(booked, booked.agent.start())
    tags = [tag for method, _, tag, _ in calendar.asked if method == "DELETE"]
    assert calendar.statuses("DELETE") == ["412", "200"]
    assert (tags[0], len(set(tags))) == ('"old"', 2)
    assert told.sends["compensation"] == ["acknowledged"]
    assert (told.state, calendar.events()) == ("compensated", 0)


def test_where_no_method_tells_the_present_etag_it_is_tried_again_later(booked: Story, calendar: Calendar) -> None:
    calendar.stale = {"PUT": '"old"', "GET": '"old"'}
    calendar.closed = {"PROPFIND"}
    booked.world.script(method="POST", path="/refusals", answer="422")
    run = booked.agent.start()
    booked.until(lambda: Attempt.objects.filter(outcome="temporary").exists())
    calendar.stale, calendar.closed = {}, set()
    told = seen(booked, run)
    assert told.sends["compensation"][-1] == "acknowledged"
    assert set(told.sends["compensation"][:-1]) == {"temporary"}
    tags = [tag for method, _, tag, _ in calendar.asked if method == "DELETE"]
    assert len(set(tags)) == len(tags) == 2
    assert (told.state, calendar.events()) == ("compensated", 0)
