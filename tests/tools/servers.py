"""A server that says exactly the bytes it is told: for what no HTTP library would send."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self

PATIENCE = 60  # seconds for a thread on a machine that does much else


class RawServer:
    """Answers the n-th connection with the n-th script: pieces of bytes, written one after the other.

    `None` among the pieces means: wait until the server stops. Received requests are in `requests`.
    """

    def __init__(self, *scripts: list[bytes | None], speaks_first: bool = False) -> None:
        self.scripts = scripts
        self.speaks_first = speaks_first
        self.requests: list[bytes] = []
        self.stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._run, daemon=True)]
        self._accepted = [threading.Event() for _ in scripts]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stopped.set()
        # A connection of our own ends the accept that waits.
        with contextlib.suppress(OSError), socket.create_connection(self._socket.getsockname(), timeout=1):
            pass
        # The threads end before the socket closes: an accept on a closed one is an error that nobody catches.
        for thread in self._threads:
            thread.join(PATIENCE)
        self._socket.close()

    def wait_closed(self, number: int) -> None:
        """Until the connection of that number (the first is 1) is answered and closed."""
        self._accepted[number - 1].wait(PATIENCE)
        self._threads[number].join(PATIENCE)

    def _run(self) -> None:
        for script, accepted in zip(self.scripts, self._accepted, strict=True):
            connection, _ = self._socket.accept()
            if self.stopped.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._answer, args=(connection, script), daemon=True)
            self._threads.append(thread)
            thread.start()
            accepted.set()

    def _answer(self, connection: socket.socket, script: list[bytes | None]) -> None:
        with connection, contextlib.suppress(OSError):
            if not self.speaks_first:
                self.requests.append(connection.recv(65_536))
            for piece in script:
                if piece is None:
                    self.stopped.wait()
                else:
                    connection.sendall(piece)


def answer(body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    """One whole HTTP answer, kept alive."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", f"Content-Type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
