"""The lying provider's wire: one thread a connection; each request is recorded, planned, held, booked and answered."""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import socket
import socketserver
import sys
import threading
from typing import TYPE_CHECKING, Any

from tests.world import answers
from tests.world.api import Reply, handle
from tests.world.book import Wire
from tests.world.switches import FAILURES, Switch

if TYPE_CHECKING:
    from tests.world.provider import Provider


class Server(socketserver.ThreadingTCPServer):
    """Binds loopback; `slams` counts connections still to be reset before a byte is read."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, port: int, provider: Provider) -> None:
        self.provider = provider
        self.slams = 0
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), Handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        self._connections.add(request)
        if self.slams:
            self.slams -= 1
            answers.linger(request)
            return False
        return True

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        lingers = request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER)
        if not lingers:  # a polite FIN before the RST would hide it
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_WR)
        request.close()

    def close_connections(self) -> None:
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            self.provider.faults.append(error or RuntimeError("an error without an exception"))


class Handler(http.server.BaseHTTPRequestHandler):
    """Any method on any path; `/_…` belongs to the control door."""

    protocol_version = "HTTP/1.1"
    server: Server

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._exchange
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
        pass

    def _exchange(self) -> None:
        provider = self.server.provider
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        line = answers.Connection(self.connection, self.wfile.write, provider.stopped)
        if self.path.startswith("/_"):
            status, answer = provider.control(self.command, self.path, answers.decoded(body))
            answers.send(line, Reply(status=status, body=answer), Switch())
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        wire = provider.book.record(
            self.command, self.path, headers, answers.decoded(body, self.headers.get("content-type", "")), body
        )
        plan = provider.board.plan(self.command, self.path, body)
        try:
            _serve(provider, line, wire, plan, body)
        finally:
            self.close_connection = self.close_connection or line.dropped


def _serve(provider: Provider, line: answers.Connection, wire: Wire, plan: Switch, body: bytes) -> None:
    """1. hold · 2. decide · 3. book, as planned · 4. hold · 5. answer, as planned · 6. book, where that comes after."""
    wire.answered = plan.answer or "normal"
    if plan.together and not provider.gathering.wait(plan.together):
        wire.answered = "never gathered"
        answers.send(line, Reply(status=500, body={"error": "the others never came"}), Switch())
        return
    if not provider.pass_gates("before", wire, body):
        wire.answered = "dropped by its gate"
        line.drop(reset=True)
        return
    reply = provider.operations.answer(wire.target) or handle(provider.book, wire, plan)
    if plan.answer == "202" and reply.change:
        reply = provider.operations.begin(reply, plan, provider.url)
    if plan.book == "before":
        provider.make(reply, wire, plan)
    elif plan.book == "late":
        timer = threading.Timer(plan.late, provider.make, [reply, wire, plan])
        timer.daemon = True
        timer.start()
    elif plan.book == "never" and plan.keys == "executed" and plan.answer in FAILURES:
        provider.make(dataclasses.replace(reply, change=None), wire, plan)
    elif plan.book == "never":
        provider.forget(reply, wire)
    if not provider.pass_gates("booked", wire, body):
        line.drop(reset=True)
        return
    provider.stopped.wait(plan.delay)
    try:
        answers.send(line, reply, plan)
    finally:
        if plan.book == "after":
            provider.make(reply, wire, plan)
