"""The small HTTP server under each outside service: reads a request, meets the customer's mood, answers or doesn't."""

from __future__ import annotations

import dataclasses
import html
import http.server
import json
import socket
import socketserver
import struct
import sys
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from examples.outside.moods import Mood, Moods

LARGEST_BODY = 1_000_000
MALFORMED = b"<!doctype html><title>Maintenance</title><h1>We'll be right back</h1>"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str  # decoded
    query: dict[str, str]
    headers: Mapping[str, str]  # lower-case names
    body: bytes
    target: str  # as it came

    def json(self) -> dict[str, Any]:
        """The body where it is a JSON object, else an empty one."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Service(Protocol):
    def about(self, request: Request) -> str:
        """The object that the request names, as text: it tells whose it is."""

    def handle(self, request: Request, *, stale: bool) -> Answer:
        """Does the work. With `stale` a read shows the state before the last change."""


def serve(listener: socket.socket, service: Service, moods: Moods) -> http.server.HTTPServer:
    """A server on an open listening socket; the caller runs `serve_forever`."""
    return _Server(listener, service, moods)


def answer_json(status: int, value: Any, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(
        status=status, body=json.dumps(value).encode(), headers={"Content-Type": "application/json", **(headers or {})}
    )


def page(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Answer:
    """A table to look at."""
    header = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row) + "</tr>" for row in rows)
    empty = "" if rows else "<p>Nothing here.</p>"
    style = (
        "body{font:15px/1.5 system-ui;margin:2rem}td,th{text-align:left;vertical-align:top;"
        "padding:.3rem 1.2rem .3rem 0;border-bottom:1px solid #ddd;white-space:pre-wrap}"
    )
    text = (
        f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><style>{style}</style>"
        f"<h1>{html.escape(title)}</h1><table><tr>{header}</tr>{body}</table>{empty}"
    )
    return Answer(status=200, body=text.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, service: Service, moods: Moods) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.service = service
        self.moods = moods

    def shutdown_request(self, request: Any) -> None:
        if request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER):  # to be reset: no polite FIN first
            request.close()
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers that hang up are no news here; the base class prints the rest."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._exchange
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
        pass

    def _exchange(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            self._send(answer_json(413, {"error": f"at most {LARGEST_BODY} bytes"}))
            return
        url = urllib.parse.urlsplit(self.path)
        request = Request(
            method=self.command,
            path=urllib.parse.unquote(url.path),
            query=dict(urllib.parse.parse_qsl(url.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(length),
            target=self.path,
        )
        if request.path == "/_moods":
            self._send(_control(self.server.moods, request))
            return
        text = "\n".join([request.path, *request.query.values(), request.body.decode("utf-8", "replace")])
        mood = self.server.moods.take(request.method, request.path, text + "\n" + self.server.service.about(request))
        self._answer(request, mood)

    def _answer(self, request: Request, mood: Mood | None) -> None:
        if mood and mood.does == "refuse":
            self._send(answer_json(mood.status, {"error": mood.text}))
            return
        answer = self.server.service.handle(request, stale=bool(mood and mood.does == "stale"))
        match mood.does if mood else "":
            case "drop":
                self.close_connection = True
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case "malformed":
                self._send(Answer(status=200, body=MALFORMED, headers={"Content-Type": "text/html"}))
            case "delay":
                time.sleep(mood.seconds if mood else 0)
                self._send(answer)
            case _:
                self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


def _control(moods: Moods, request: Request) -> Answer:
    """`/_moods`: what is set; POST one, DELETE those that were posted."""
    if request.method == "DELETE":
        moods.clear()
    elif request.method == "POST":
        try:
            moods.add(request.json())
        except (TypeError, ValueError) as error:
            return answer_json(400, {"error": str(error)})
    return answer_json(200, {"moods": moods.shown()})
