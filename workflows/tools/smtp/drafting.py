"""A mail as a draft, and the look into a mailbox. For the kind smtp."""

from __future__ import annotations

import email
import email.policy
import hashlib
from typing import TYPE_CHECKING, Any

from workflows.tools.draft import Draft
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import drafting
from workflows.tools.smtp import message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import EmailMessage

    from workflows.tools.call import Call

SHOWN = ("From", "To", "Cc", "Subject", "Date", "Message-ID")
DATED = "Its date is that of the send; all else is the same at every attempt."


def mail(part: Mapping[str, Any], names: Mapping[str, Any], call: Call) -> Draft:
    try:
        made = message.make(part, names, call.key, call.now)
    except ExpressionError as error:
        return Draft(line="mail", note=DATED, flaw=str(error))
    read = email.message_from_bytes(made.data, policy=email.policy.default)
    return Draft(
        line=f"mail to {', '.join(made.receivers)}",
        headers=tuple((name, str(read[name])) for name in SHOWN if read[name]),
        body="\n\n".join(_told(one) for one in read.walk() if not one.is_multipart()),
        digest=made.digest,
        note=DATED,
    )


def mailbox(box: Mapping[str, Any], part: Mapping[str, Any], names: Mapping[str, Any], call: Call) -> Draft:
    try:
        identity = message.message_id(call.key, message.sender_of(part, names))
        if "imap" not in box:
            return drafting.draft(box, {**names, "message_id": identity}, reads=True)
        where = fill({name: box["imap"][name] for name in ("host", "port", "folder")}, names, "imap")
    except ExpressionError as error:
        return Draft(line="mailbox", reads=True, flaw=str(error))
    return Draft(line=f"search {where['folder']} at {where['host']}:{where['port']} for {identity}", reads=True)


def _told(one: EmailMessage) -> str:
    """A text as it reads; of anything else its name, type and digest."""
    kind = one.get_content_type()
    if one.get_filename() is None and kind in ("text/plain", "text/html"):
        text = str(one.get_content()).replace("\r\n", "\n").strip()
        return text if kind == "text/plain" else f"as HTML:\n{text}"
    data = one.get_payload(decode=True)
    assert isinstance(data, bytes)
    return f"attached: {one.get_filename()}, {kind}, {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}"
