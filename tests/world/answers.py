"""How an answer goes onto the wire, whole or in any of the broken forms that real providers have sent."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Callable
from typing import Protocol

from tests.world.api import Json, Reply
from tests.world.switches import Switch

HUGE = 32 * 1024 * 1024
BOMB = 64 * 1024 * 1024
CHUNK = 64 * 1024
# Slow enough that any sensible total timeout ends it, quick enough that a per-read timeout never would.
DRIP = 0.1
HTML = b"<!doctype html><title>Sign in</title><h1>Please sign in</h1>"


class Line(Protocol):
    """The connection: `stopped` is set when the provider ends."""

    stopped: threading.Event

    def write(self, data: bytes) -> None: ...
    def drop(self, *, reset: bool) -> None: ...
    def gone(self, timeout: float) -> bool: ...


def send(line: Line, reply: Reply, plan: Switch) -> None:
    """Answers as planned; `reply` is the honest answer that the plan distorts."""
    body = b"" if reply.status == 204 else json.dumps(reply.body).encode()
    match plan.answer:
        case "" | "normal" | "202":
            whole(line, reply.status, body, reply.headers)
        case "cut":
            line.drop(reset=True)
        case "close":
            line.drop(reset=False)
        case "silence":
            while not line.stopped.is_set() and not line.gone(0.5):
                pass
            line.drop(reset=False)
        case "html200":
            whole(line, 200, HTML, {"Content-Type": "text/html; charset=utf-8"})
        case "wrong_type":
            whole(line, reply.status, body, {"Content-Type": "text/plain"})
        case "raw":
            whole(
                line, plan.status or 200, plan.text.encode(), {"Content-Type": plan.content_type or "application/json"}
            )
        case "207":
            each = [{"status": 500, "error": "not this one"}, {"status": reply.status, **(reply.body or {})}]
            whole(line, 207, json.dumps({"items": each}).encode())
        case "error200":
            whole(line, 200, json.dumps({"ok": False, "error": {"code": "rejected", "message": "no"}}).encode())
        case "503" | "500" | "429" | "422" | "404" | "409":
            after = {"Retry-After": plan.retry_after} if plan.retry_after else {}
            whole(line, int(plan.answer), json.dumps({"error": "not now"}).encode(), after)
        case "redirect":
            whole(line, plan.status or 302, b"", {"Location": plan.location or "/login"})
        case _:
            _broken(line, reply.status, body, plan)


def _broken(line: Line, status: int, body: bytes, plan: Switch) -> None:
    match plan.answer:
        case "gzip_bomb":
            whole(line, status, bomb(plan.size or BOMB), {"Content-Encoding": "gzip"})
        case "short":
            line.write(head(status, {"Content-Type": "application/json", "Content-Length": str(len(body) + 40)}) + body)
            line.drop(reset=False)
        case "cut_chunked":
            line.write(head(status, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))
            line.write(b"%x\r\n%s\r\n" % (len(body), body))
            line.drop(reset=False)
        case "huge":
            size = plan.size or HUGE
            line.write(head(status, {"Content-Type": "application/json", "Content-Length": str(size)}))
            for _ in range(size // CHUNK):
                line.write(b" " * CHUNK)
            line.write(b" " * (size % CHUNK))
        case "drip":
            line.write(head(status, {"Content-Type": "application/json", "Content-Length": str(HUGE)}))
            while not line.stopped.wait(DRIP):
                line.write(b" ")
            line.drop(reset=False)
        case _:
            raise ValueError(f"no such answer: {plan.answer}")


def ready(plan: Switch) -> None:
    """What takes long to make is made before somebody's time to wait for it begins."""
    if plan.answer == "gzip_bomb":
        bomb(plan.size or BOMB)


@functools.cache
def bomb(size: int) -> bytes:
    return gzip.compress(b'{"id": "' + b"0" * size + b'"}', compresslevel=9)


def whole(line: Line, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    line.write(head(status, fields) + body)


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Answer", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _field(head: bytes, content: bytes) -> tuple[str, str]:
    told = dict(re.findall(r'(name|filename)="([^"]*)"', head.decode()))
    if "filename" not in told:
        return told["name"], content.decode()
    return told["name"], f"{told['filename']}:{hashlib.sha256(content).hexdigest()}"


class Connection:
    """The one implementation of Line, over a socket and its unbuffered writer."""

    def __init__(self, sock: socket.socket, write: Callable[[bytes], object], stopped: threading.Event) -> None:
        self._socket = sock
        self._write = write
        self.stopped = stopped
        self.dropped = False

    def write(self, data: bytes) -> None:
        self._write(data)

    def drop(self, *, reset: bool) -> None:
        """No more on this connection; with `reset` the caller gets RST, also for what it has not read yet."""
        self.dropped = True
        if reset:
            linger(self._socket)

    def gone(self, timeout: float) -> bool:
        """True once the caller has closed (or sent more, which it never should while it waits)."""
        self._socket.settimeout(timeout)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return False
        finally:
            self._socket.settimeout(None)
        return True


def linger(sock: socket.socket) -> None:
    """Makes closing this socket send RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def decoded(body: bytes, kind: str = "") -> Json:
    """The body as JSON where it is, a form as its fields and the digests of its files, else as text."""
    if kind.startswith("multipart/form-data; boundary="):
        parts = body.split(b"--" + kind.partition("boundary=")[2].encode())[1:-1]
        return dict(_field(*part.removeprefix(b"\r\n").removesuffix(b"\r\n").split(b"\r\n\r\n", 1)) for part in parts)
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")
