"""A look into a mailbox by IMAP: how many messages with our Message-ID are there. Reads only."""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any

from workflows.outcomes import Rejected, Sighting, Verdict
from workflows.tools.keeping import sentence
from workflows.tools.wire.addresses import addresses_of
from workflows.tools.wire.messages import Deadline, Forbidden, NotLeft

if TYPE_CHECKING:
    from collections.abc import Mapping


def look(box: Mapping[str, Any], message_id: str, *, timeout: float, used: Mapping[str, str]) -> Sighting:
    """`box`: host, port, tls, username, password, folder, all filled; `used`: the secrets in it. One message is found,
    more are several."""
    kept = {"mailbox": f"{box['host']}:{box['port']}/{box['folder']}", "message_id": message_id}
    deadline = Deadline(timeout)
    try:
        client = _Client(box, deadline)
    except (OSError, imaplib.IMAP4.error, NotLeft, Forbidden) as error:
        return _unreached(error, kept)
    bell = threading.Timer(timeout, client.end)
    bell.daemon = True
    bell.start()
    try:
        return _looked(client, box, message_id, kept)
    except (imaplib.IMAP4.abort, OSError) as error:
        return _unreached(error, kept)
    except NotKnown as error:
        rejected = Rejected(secrets=used) if used else None
        reason = f"the mailbox does not accept who asks: {_without(error, box)}"
        return Sighting(
            verdict=Verdict.INCONCLUSIVE, reason=reason, reached=rejected is None, rejected=rejected, evidence=kept
        )
    except imaplib.IMAP4.error as error:
        reason = f"the mailbox refuses to be read: {_without(error, box)}"
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=kept)
    finally:
        bell.cancel()
        client.close_quietly()


def _looked(client: _Client, box: Mapping[str, Any], message_id: str, kept: dict[str, Any]) -> Sighting:
    try:
        client.login(str(box["username"]), str(box["password"]))
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as error:
        raise NotKnown(str(error)) from None
    status, said = client.select(_quoted(str(box["folder"])), readonly=True)
    if status != "OK":
        reason = f"the folder can't be opened: {sentence(repr(said))}"
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=kept)
    status, data = client.search(None, "HEADER", "Message-ID", _quoted(message_id))
    if status != "OK":
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason="the search was refused", evidence=kept)
    count = len((data[0] or b"").split())
    verdict = Verdict.ABSENT if count == 0 else Verdict.FOUND if count == 1 else Verdict.SEVERAL
    result = {"message_id": message_id} if verdict is Verdict.FOUND else {}
    return Sighting(verdict=verdict, reason=f"{count} in the mailbox", result=result, evidence={**kept, "count": count})


class NotKnown(imaplib.IMAP4.error):
    """The mailbox's no to who asks."""


def _without(error: Exception, box: Mapping[str, Any]) -> str:
    return sentence(str(error).replace(str(box["password"]), "…"))


def _unreached(error: Exception, kept: dict[str, Any]) -> Sighting:
    reason = f"the mailbox can't be asked: {sentence(str(error)) or type(error).__name__}"
    return Sighting(verdict=Verdict.INCONCLUSIVE, reason=reason, reached=False, evidence=kept)


def _quoted(text: str) -> str:
    """An IMAP quoted string; line breaks have no place in one."""
    if re.search(r"[\r\n\0]", text):
        raise imaplib.IMAP4.error("a line break in a folder's or a message's name")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Client(imaplib.IMAP4):
    def __init__(self, box: Mapping[str, Any], deadline: Deadline) -> None:
        self.box, self.deadline = box, deadline
        super().__init__(str(box["host"]), int(box["port"]))

    def end(self) -> None:
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def close_quietly(self) -> None:
        try:
            self.shutdown()
        except OSError:
            return

    def _create_socket(self, timeout: float | None) -> socket.socket:
        """imaplib's own place for another way to connect, as smtplib's."""
        trouble: OSError = OSError("no address")
        for address in addresses_of(str(self.box["host"]), int(self.box["port"]), self.deadline):
            try:
                raw = socket.create_connection(address, timeout=self.deadline.left())
                if not self.box["tls"]:
                    return raw
                return ssl.create_default_context().wrap_socket(raw, server_hostname=str(self.box["host"]))
            except OSError as error:
                trouble = error
        raise trouble
