"""The shapes of the kinds smtp, caldav and python."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from workflows.tools import defaults
from workflows.tools.manifest.fields import AnyTool, Asking, Duration, Strict, Text, Timeout, Undoing
from workflows.tools.manifest.http_shape import Auth, Verify


class Attachment(Strict):
    name: Text
    type: Text = "application/octet-stream"
    base64: Text


class Mail(Strict):
    """`to`, `cc`: one address, a list of them, or one expression that gives either. `from` has the server's default."""

    to: str | list[str]
    cc: str | list[str] = []
    from_: Text | None = Field(default=None, alias="from")
    subject: Text
    text: str
    html: str | None = None
    attachments: Annotated[list[Attachment], Field(max_length=10)] = []
    timeout: Timeout = defaults.MAIL_TIMEOUT
    late: Duration | None = None


class Imap(Strict):
    """Where the provider's own copy or the receiver's mailbox can be searched by Message-ID."""

    host: Text
    port: Annotated[int, Field(ge=1, le=65535)] = 993
    tls: bool = True
    username: Text
    password: Text
    folder: Text = "INBOX"


class ImapMailbox(Asking):
    imap: Imap


def _way(value: Any) -> str:
    return "imap" if isinstance(value, dict) and "imap" in value else "http"


Mailbox = Annotated[Annotated[ImapMailbox, Tag("imap")] | Annotated[Verify, Tag("http")], Discriminator(_way)]


class SmtpTool(AnyTool):
    """`mailbox`: an IMAP search, or a look over HTTP in the form of an http tool's `verify`."""

    kind: Literal["smtp"]
    execute: Mail
    mailbox: Mailbox | None = None


class Moment(Strict):
    """A wall-clock time (`2026-03-29T14:00`) in an IANA time zone."""

    time: Text
    zone: Text


class Event(Strict):
    calendar: Text
    auth: Auth | None = None
    summary: Text
    description: str | None = None
    start: Moment
    end: Moment
    attendees: str | list[str] = []
    location: str | None = None
    timeout: Timeout = defaults.TIMEOUT
    late: Duration | None = None


class Cancel(Undoing):
    """DELETE with the ETag that the booking's answer, or the look, gave."""

    verify: Asking = Asking()


class CalDavTool(AnyTool):
    kind: Literal["caldav"]
    execute: Event
    verify: Asking = Asking()
    compensate: Cancel | None = None


class Act(Strict):
    timeout: Timeout = defaults.TIMEOUT
    late: Duration | None = None


class Undo(Undoing):
    verify: Asking | None = None


class PythonTool(AnyTool):
    kind: Literal["python"]
    class_: Text = Field(alias="class")
    execute: Act = Act()
    verify: Asking | None = None
    compensate: Undo | None = None
