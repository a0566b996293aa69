"""Makes the message of one call: the same bytes and the same Message-ID at every attempt."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime as dt
import email.policy
import hashlib
import os
import re
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

from workflows.tools import addresses
from workflows.tools.expressions import ExpressionError, fill, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMED = re.compile(r"([^<>@\r\n\"\\]{1,200})<([^<>]+)>")
MOST_RECEIVERS = 50
LARGEST_ATTACHMENT = 1_048_576
FROM = "MAKEGOOD_SMTP_FROM"
DEFAULT_FROM = "makegood@localhost"


@dataclasses.dataclass(frozen=True, slots=True)
class Mail:
    """`data`: the whole message with CRLF line ends."""

    message_id: str
    sender: str
    receivers: tuple[str, ...]
    data: bytes
    digest: str


def make(part: Mapping[str, Any], names: Mapping[str, Any], key: str, now: str) -> Mail:
    """The mail that `execute` declares. Raises `ExpressionError` for whatever no mail can carry."""
    told = {name: fill(part[name], names, name) for name in part if name not in ("timeout", "late")}
    sender = _address("from", told.get("from") or os.environ.get(FROM) or DEFAULT_FROM)
    to, cc = _addresses("to", told["to"]), _addresses("cc", told.get("cc", []))
    if not to or len(to) + len(cc) > MOST_RECEIVERS:
        raise ExpressionError("to", f"{len(to) + len(cc)}", f"needs one to {MOST_RECEIVERS} receivers")
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"], message["To"] = sender, to
    if cc:
        message["Cc"] = cc
    message["Subject"] = _line("subject", told["subject"])
    message["Date"] = format_datetime(dt.datetime.fromisoformat(now) if now else dt.datetime.now(dt.UTC))
    message["Message-ID"] = identity = message_id(key, sender.addr_spec)
    _content(message, told)
    receivers = tuple(dict.fromkeys(address.addr_spec for address in (*to, *cc)))
    # The date is the attempt's own and no part of what was asked.
    asked = repr([identity, sender.addr_spec, receivers, told]).encode("utf-8", "backslashreplace")
    return Mail(identity, sender.addr_spec, receivers, message.as_bytes(), hashlib.sha256(asked).hexdigest())


def message_id(key: str, sender: str) -> str:
    """Ours for ever: made of the effect's key, so that it can be searched for after any crash."""
    return f"<{key}@{sender.rpartition('@')[2]}>"


def sender_of(part: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """The address that the mail of this call is from. Raises `ExpressionError`."""
    given = fill(part.get("from"), names, "from")
    return _address("from", given or os.environ.get(FROM) or DEFAULT_FROM).addr_spec


def _content(message: EmailMessage, told: Mapping[str, Any]) -> None:
    # Quoted-printable writes out bare line ends, which servers disagree about where a message ends.
    message.set_content(text_of(told["text"]), cte="quoted-printable")
    if told.get("html") is not None:
        message.add_alternative(text_of(told["html"]), subtype="html", cte="quoted-printable")
    for number, one in enumerate(told.get("attachments", [])):
        path = f"attachments.{number}"
        try:
            data = base64.b64decode(text_of(one["base64"]), validate=True)
        except binascii.Error as error:
            raise ExpressionError(f"{path}.base64", "…", f"is no base64: {error}") from None
        if len(data) > LARGEST_ATTACHMENT:
            raise ExpressionError(path, f"{len(data)} bytes", f"is larger than {LARGEST_ATTACHMENT} bytes")
        kind = re.fullmatch(r"([a-z0-9.+-]+)/([a-z0-9.+-]+)", text_of(one["type"]))
        if kind is None:
            raise ExpressionError(f"{path}.type", text_of(one["type"]), "is no media type")
        message.add_attachment(data, maintype=kind[1], subtype=kind[2], filename=_line(f"{path}.name", one["name"]))


def _addresses(path: str, value: Any) -> list[Address]:
    values = value if isinstance(value, list) else [value]
    return [_address(f"{path}.{number}" if value is values else path, one) for number, one in enumerate(values)]


def _address(path: str, value: Any) -> Address:
    text = _line(path, value)
    named = NAMED.fullmatch(text)
    display, plain = (named[1].strip(), named[2].strip()) if named else ("", text)
    try:
        return Address(display_name=display, addr_spec=addresses.plain(path, plain))
    except ValueError as error:
        raise ExpressionError(path, text, f"is no mail address: {error}") from None


def _line(path: str, value: Any) -> str:
    text = text_of(value).strip()
    if re.search(r"[\r\n\0]", text):
        raise ExpressionError(path, text, "holds a line break; a header is one line")
    return text
