"""One HTTP/1.1 connection: h11 speaks the protocol, a plain socket carries it, one deadline bounds it."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import time
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import h11

from workflows.tools.wire.addresses import addresses_of
from workflows.tools.wire.bodies import Reading
from workflows.tools.wire.messages import Answer, Deadline, Lost, NotLeft

if TYPE_CHECKING:
    from workflows.tools.wire.messages import Request

Origin = tuple[str, str, int]
PIECE = 65_536
# Some servers send hints before the answer; nobody sends many.
MOST_HINTS = 10
# A server may close an idle connection at any moment, and most wait five seconds or longer.
IDLE = 3.0


class Connection:
    """Opened for one origin. After a whole answer it may be used again, by one exchange at a time."""

    def __init__(self, origin: Origin, deadline: Deadline) -> None:
        self.origin = origin
        self.socket, self.address = _connected(origin, deadline)
        self._h11 = h11.Connection(our_role=h11.CLIENT)
        self._idle_since = time.monotonic()

    def exchange(self, request: Request, deadline: Deadline) -> Answer:
        """Sends and reads once. Raises `Lost` for whatever ends without a whole answer."""
        reading = Reading(self.address)
        try:
            self._send(request, deadline)
            self._receive(reading, deadline)
            return reading.answer()
        except TimeoutError:
            raise Lost(f"no whole answer within {deadline.seconds:g} s", reading.partial()) from None
        except h11.RemoteProtocolError as error:
            raise Lost(f"the answer broke off or isn't HTTP: {error}", reading.partial()) from None
        except OSError as error:
            raise Lost(f"the connection was lost: {_said(error)}", reading.partial()) from None

    def rest(self) -> bool:
        """Readies for another exchange; False where the connection can't or shouldn't be used again."""
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        # What came after the answer would be read as the answer to somebody else's request.
        if self._h11.trailing_data != (b"", False):
            return False
        self._h11.start_next_cycle()
        self._idle_since = time.monotonic()
        return True

    def fresh(self) -> bool:
        """Whether it idled shortly and in silence: anything to read now is an end or a stray answer."""
        readable, _, _ = select.select([self.socket], [], [], 0)
        return not readable and self.idle_for() <= IDLE

    def idle_for(self) -> float:
        return time.monotonic() - self._idle_since

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.close()

    def _send(self, request: Request, deadline: Deadline) -> None:
        data = memoryview(self._bytes_of(request))
        try:
            while data:
                self.socket.settimeout(deadline.left())
                data = data[self.socket.send(data[:PIECE]) :]
        except TimeoutError:
            raise
        except OSError:
            # A server may refuse and close before it has read all; its answer, if it came, is still worth reading.
            return

    def _bytes_of(self, request: Request) -> bytes:
        host, port = self.origin[1], self.origin[2]
        name = f"[{host}]" if ":" in host else host.encode("idna").decode()
        parts = urlsplit(request.url)
        target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe="%/:=&?~+!$,;'@()*[]-._")
        default = port == (443 if self.origin[0] == "https" else 80)
        headers = [("Host", name if default else f"{name}:{port}"), ("Accept-Encoding", "identity"), *request.headers]
        if not any(name.lower() == "user-agent" for name, _ in request.headers):
            headers.append(("User-Agent", "makegood"))
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            headers.append(("Content-Length", str(len(request.body))))
        sent = self._h11.send(h11.Request(method=request.method, target=target, headers=headers)) or b""
        if request.body:
            sent += self._h11.send(h11.Data(data=request.body)) or b""
        return sent + (self._h11.send(h11.EndOfMessage()) or b"")

    def _receive(self, reading: Reading, deadline: Deadline) -> None:
        hints = 0
        while True:
            event = self._h11.next_event()
            if event is h11.NEED_DATA:
                self.socket.settimeout(deadline.left())
                data = self.socket.recv(PIECE)
                if not data and not reading.received:
                    raise Lost("the connection was closed without an answer")
                reading.count(len(data))
                self._h11.receive_data(data)
            elif isinstance(event, h11.InformationalResponse):
                hints += 1
                if hints > MOST_HINTS or event.status_code == 101:
                    raise Lost("the server talks without answering", reading.partial())
            elif isinstance(event, h11.Response):
                reading.begin(event.status_code, [(k.decode("latin-1"), v.decode("latin-1")) for k, v in event.headers])
            elif isinstance(event, h11.Data):
                deadline.left()
                reading.add(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                return
            else:
                raise Lost("the connection was closed before the answer was whole", reading.partial())


def _connected(origin: Origin, deadline: Deadline) -> tuple[socket.socket, str]:
    """A connected socket, with TLS where the origin wants it. Everything that fails here is proof of nothing sent."""
    scheme, host, port = origin
    trouble = "no address"
    try:
        addresses = addresses_of(host, port, deadline)
        for number, address in enumerate(addresses):
            try:
                # One silent address must not use up the time of the others.
                raw = socket.create_connection(address, timeout=deadline.left() / (len(addresses) - number))
            except OSError as error:
                trouble = _said(error)
                continue
            try:
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return (_secured(raw, host, deadline) if scheme == "https" else raw), address[0]
            except BaseException:
                raw.close()
                raise
    except TimeoutError:
        raise NotLeft(f"no connection to {host}:{port} within {deadline.seconds:g} s") from None
    except OSError as error:
        raise NotLeft(f"no TLS connection to {host}:{port}: {_said(error)}") from None
    raise NotLeft(f"no connection to {host}:{port}: {trouble}")


def _secured(raw: socket.socket, host: str, deadline: Deadline) -> ssl.SSLSocket:
    raw.settimeout(deadline.left())
    # An end without TLS's own goodbye may be somebody cutting the answer; it must not pass for a whole one.
    return _tls().wrap_socket(raw, server_hostname=host, suppress_ragged_eofs=False)


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _said(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate isn't accepted: {error.verify_message}"
    return error.strerror or str(error) or type(error).__name__
