"""A real authorization server and a protected resource on loopback, with the habits that break clients: refresh tokens
that serve once, a family that dies when an old one comes back, and answers that never arrive."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from workflows.tools.wire.exchange import forget


@dataclasses.dataclass
class Server:
    """`asked`: forms of the token endpoint; `sends`: (method, path, token) of the resource, answered or not."""

    url: str = ""
    refresh: str = "refresh-0"
    valid: set[str] = dataclasses.field(default_factory=set)
    dead: bool = False  # the family: an old refresh token came back
    lives: float | None = 3600
    rotates: bool = True
    drop: int = 0  # so many answers of the token endpoint are lost after their work was done
    busy: int = 0  # so many are answered 503 first
    scope_missing: bool = False
    asked: list[dict[str, str]] = dataclasses.field(default_factory=list)
    sends: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)
    things: dict[str, Any] = dataclasses.field(default_factory=dict)
    given: list[str] = dataclasses.field(default_factory=list)
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    inside: threading.Event | None = None  # set when the token endpoint is asked
    go: threading.Event | None = None  # awaited by it before it answers
    numbers: Iterator[int] = dataclasses.field(default_factory=lambda: itertools.count(1))

    def revoke(self) -> None:
        self.valid.clear()

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]] | None:
        """None where the answer is lost."""
        if self.inside and self.go:
            self.inside.set()
            self.go.wait(20)
        with self.lock:
            self.asked.append(form)
            if self.busy:
                self.busy -= 1
                return 503, {}
            refresh = form.get("refresh_token")
            if refresh is not None and (self.dead or refresh != self.refresh):
                self.dead = True
                self.valid.clear()
                return 400, {"error": "invalid_grant", "error_description": f"{refresh} is not known"}
            number = next(self.numbers)
            access = f"access-token-{number}"
            self.valid.add(access)
            self.given.append(access)
            said: dict[str, Any] = {"access_token": access, "token_type": "Bearer"}
            if self.lives is not None:
                said["expires_in"] = self.lives
            if form["grant_type"] == "refresh_token" and self.rotates:
                self.refresh = said["refresh_token"] = f"refresh-{number}"
                self.given.append(self.refresh)
            if self.drop:
                self.drop -= 1
                return None
            return 200, said

    def resource(self, method: str, path: str, token: str, body: Any) -> tuple[int, dict[str, Any], str]:
        with self.lock:
            self.sends.append((method, path, token))
            if token not in self.valid:
                return 401, {"error": "invalid_token", "you_sent": token}, 'Bearer error="invalid_token"'
            if self.scope_missing and method != "GET":
                return 403, {}, 'Bearer error="insufficient_scope"'
            key = path.rpartition("/")[2]
            match method:
                case "POST":
                    self.things[body["key"]] = body
                    return 201, {"id": body["key"]}, ""
                case "DELETE":
                    return (200 if self.things.pop(key, None) else 404), {}, ""
                case _:
                    return (200, {"id": key}, "") if key in self.things else (404, {}, "")


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            more = ""
            if self.path == "/token":
                told = server.token({name: values[0] for name, values in parse_qs(data.decode()).items()})
                if told is None:
                    self.close_connection = True
                    return
                status, said = told
            else:
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                status, said, more = server.resource(self.command, self.path, token, json.loads(data or b"{}"))
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if more:
                self.send_header("WWW-Authenticate", more)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815  the names that the library calls

        def log_message(self, *_: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        forget()  # kept connections would keep the server's threads
        http.shutdown()
        thread.join()
        http.server_close()
