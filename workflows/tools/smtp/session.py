"""One SMTP session with one message: what the server said, and how far the message had gone when it stopped saying."""

from __future__ import annotations

import dataclasses
import os
import smtplib
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any

from workflows.tools import providers
from workflows.tools.keeping import sentence
from workflows.tools.wire.addresses import addresses_of
from workflows.tools.wire.messages import Deadline, NotLeft

if TYPE_CHECKING:
    from workflows.tools.smtp.message import Mail

DEFAULT_PORT = 25
PASSWORD = "SMTP_PASSWORD"  # noqa: S105  the name of the secret


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where mail goes out: MAKEGOOD_SMTP_HOST, _PORT, _TLS (none, starttls, tls), _USER and its secret."""

    host: str
    port: int = DEFAULT_PORT
    tls: str = "none"
    user: str = ""


class Said(Exception):
    """The server's own no: nothing was taken over. 4xx is for now, 5xx for good."""

    def __init__(self, code: int, text: bytes | str) -> None:
        words = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
        self.temporary = 400 <= code < 500
        super().__init__(f"{code} {sentence(words)}")


class NotKnown(Said):
    """The server's no to who asks. `password`: what it didn't take."""

    def __init__(self, code: int, text: bytes | str, password: str) -> None:
        self.password = password
        super().__init__(code, text)


class Broken(Exception):
    """The session ended without a word. `begun`: the message's content was begun, so it may have been taken."""

    def __init__(self, reason: str, *, begun: bool) -> None:
        self.begun = begun
        super().__init__(reason)


def server_of_settings() -> Server:
    """The server of the operator's environment. Raises `ValueError` for what can't be one."""
    host, port = os.environ.get("MAKEGOOD_SMTP_HOST", ""), os.environ.get("MAKEGOOD_SMTP_PORT", "") or str(DEFAULT_PORT)
    tls = os.environ.get("MAKEGOOD_SMTP_TLS", "") or "none"
    if not host:
        raise ValueError("MAKEGOOD_SMTP_HOST isn't set")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise ValueError(f"MAKEGOOD_SMTP_PORT is {port!r}; it must be a port number")
    if tls not in ("none", "starttls", "tls"):
        raise ValueError(f"MAKEGOOD_SMTP_TLS is {tls!r}; it must be none, starttls or tls")
    return Server(host=host, port=int(port), tls=tls, user=os.environ.get("MAKEGOOD_SMTP_USER", ""))


def deliver(mail: Mail, server: Server, *, timeout: float) -> str:
    """Hands the mail over; the server's words. Raises `Said`, `NotKnown` for who asks, `Broken`, or `Forbidden` for an
    address not allowed."""
    deadline = Deadline(timeout)
    session = _Session(server, deadline)
    # smtplib's timeout is for each read; this ends a server that drips one byte at a time.
    bell = threading.Timer(timeout, session.end)
    bell.daemon = True
    bell.start()
    begun = False
    try:
        session.open()
        session.ask(*session.mail(mail.sender))
        refused = {to: answer for to in mail.receivers if (answer := session.rcpt(to))[0] not in (250, 251)}
        if refused:
            _refuse(refused)
        session.ask(*session.docmd("DATA"), wanted=354)
        begun = True
        return session.content(mail.data)
    except (OSError, smtplib.SMTPServerDisconnected) as error:
        late = session.ended or not deadline.seconds_left()
        lost = f"the connection was lost: {sentence(str(error))}"
        raise Broken(f"no answer within {timeout:g} s" if late else lost, begun=begun) from None
    except NotLeft as error:
        raise Broken(str(error), begun=False) from None
    except smtplib.SMTPException as error:
        raise Broken(f"the server isn't understood: {sentence(str(error))}", begun=begun) from None
    finally:
        bell.cancel()
        session.leave()


class _Session(smtplib.SMTP):
    def __init__(self, server: Server, deadline: Deadline) -> None:
        # Without a host nothing is connected yet; our name in EHLO tells nobody where this runs.
        super().__init__(local_hostname="makegood.invalid", timeout=deadline.seconds)
        self.server, self.deadline = server, deadline
        self._host = server.host  # what smtplib checks a certificate against after STARTTLS
        self.ended = False

    def open(self) -> None:
        self.ask(*self.connect(self.server.host, self.server.port), wanted=220)
        self.ask(*self.ehlo())
        if self.server.tls == "starttls":
            self.ask(*self.starttls(context=ssl.create_default_context()), wanted=220)
            self.ask(*self.ehlo())
        if self.server.user:
            self._log_in()

    def ask(self, code: int, text: bytes, *, wanted: int = 250) -> None:
        if code == -1:
            raise smtplib.SMTPServerDisconnected("the server hung up")
        if code != wanted:
            raise Said(code, text)

    def content(self, data: bytes) -> str:
        """The message and its final dot; after this only the server's word says what became of it."""
        stuffed = data.replace(b"\r\n.", b"\r\n..")
        stuffed = b"." + stuffed if stuffed.startswith(b".") else stuffed
        self.send(stuffed + (b".\r\n" if stuffed.endswith(b"\r\n") else b"\r\n.\r\n"))
        code, text = self.getreply()
        self.ask(code, text)
        return f"{code} {sentence(text.decode('utf-8', 'backslashreplace'))}"

    def end(self) -> None:
        """Called by the bell, from another thread: whatever waits on the socket fails at once."""
        self.ended = True
        if (raw := self.sock) is not None:
            try:
                raw.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def leave(self) -> None:
        """A goodbye that nobody waits for: the mail is taken over, or it isn't, by now."""
        try:
            if self.sock is not None and not self.ended:
                self.send(b"QUIT\r\n")
        except (OSError, smtplib.SMTPException):
            pass
        finally:
            self.close()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """smtplib's own place for another way to connect: ours checks the address and keeps to the deadline."""
        trouble: OSError = OSError("no address")
        for address in addresses_of(host, port, self.deadline):
            try:
                raw = socket.create_connection(address, timeout=self.deadline.left())
                if self.server.tls != "tls":
                    return raw
                return ssl.create_default_context().wrap_socket(raw, server_hostname=host)
            except OSError as error:
                trouble = error
        raise trouble

    def _log_in(self) -> None:
        password = providers.secret(PASSWORD)
        if password is None:
            raise Broken("the password of the mail server isn't set", begun=False)
        try:
            self.login(self.server.user, password)
        except smtplib.SMTPResponseException as error:
            if error.smtp_code >= 500:
                raise NotKnown(error.smtp_code, error.smtp_error, password) from None
            raise Said(error.smtp_code, error.smtp_error) from None


def _refuse(refused: dict[str, Any]) -> None:
    """One refused receiver stops the mail before its content: half a mailing could never be told from a whole one."""
    (code, text) = max(refused.values(), key=lambda answer: int(answer[0]))
    words = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else str(text)
    if code == -1:
        raise smtplib.SMTPServerDisconnected("the server hung up")
    raise Said(code, f"{words} (for {', '.join(refused)})")
