"""What was written to be told, and real servers on loopback that receive it: web hook, mail server, a silent one."""

from __future__ import annotations

import contextlib
import http.server
import json
import queue
import socket
import threading
from collections.abc import Iterator
from typing import Any

from aiosmtpd.controller import Controller

from repairs.models import Notice

BASE = "https://makegood.example.org"  # of the console, in what is told


def written() -> list[tuple[str, str, str]]:
    """(of what, to which role or team, of which team's work) of each notice."""
    return [(n.what, n.to.partition(":")[0], n.team) for n in Notice.objects.order_by("id")]


class Hook:
    """A web hook that keeps what it is told; `status` is what it answers."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.status = 200

    @contextlib.contextmanager
    def open(self) -> Iterator[str]:
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if hook.status == 200:
                    hook.told.append(json.loads(body))
                self.send_response(hook.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None: ...

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"json://user:hook-secret@127.0.0.1:{server.server_port}/hidden-path"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


class Mailbox:
    def __init__(self) -> None:
        self.mails: list[bytes] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802  as the library calls it
        self.mails.append(envelope.content)
        return "250 taken"

    @contextlib.contextmanager
    def open(self) -> Iterator[str]:
        controller = Controller(self, hostname="127.0.0.1", port=_free_port())
        controller.start()
        try:
            port = controller.port
            yield f"mailto://127.0.0.1:{port}?from=makegood@example.org&to=desk@example.org&mode=insecure"
        finally:
            controller.stop()


@contextlib.contextmanager
def silent() -> Iterator[tuple[str, queue.SimpleQueue[str], threading.Event]]:
    """Accepts, and never answers: its address, what is put when somebody has come, and the event that lets them go."""
    came: queue.SimpleQueue[str] = queue.SimpleQueue()
    let_go = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def keep() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connected, _ = server.accept()
                    came.put("came")
                    let_go.wait()
                    connected.close()

        thread = threading.Thread(target=keep, daemon=True)
        thread.start()
        try:
            yield f"json://127.0.0.1:{server.getsockname()[1]}/", came, let_go
        finally:
            let_go.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
