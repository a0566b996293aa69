"""The mail server (aiosmtpd) with an inbox to look into: each accepted message is kept and can be found by Message-ID.

`GET /` is a page; `GET /messages?message_id=&to=` is JSON `{"items": [...]}`.
"""

from __future__ import annotations

import asyncio
import email
import email.policy
import socket
import threading
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from examples.outside.moods import Moods
from examples.outside.store import Document, Store
from examples.outside.web import Answer, Request, answer_json, page


class Inbox:
    def __init__(self, folder: Path) -> None:
        self._store = Store(folder / "inbox.sqlite3")

    def about(self, request: Request) -> str:
        return ""

    def handle(self, request: Request, *, stale: bool) -> Answer:
        messages = self._store.find("message", stale=stale)
        if request.path == "/messages":
            wanted, to = request.query.get("message_id"), request.query.get("to")
            items = [m for m in messages if wanted in (None, m["message_id"]) and (to is None or to in m["to"])]
            return answer_json(200, {"items": items})
        if request.path != "/":
            return answer_json(404, {"error": f"Nothing is at {request.path}."})
        rows = [(m["date"], ", ".join(m["to"]), m["subject"], m["text"], m["message_id"]) for m in reversed(messages)]
        return page("Inbox", ("Sent", "To", "Subject", "Text", "Message-ID"), rows)

    def keep(self, raw: bytes, recipients: list[str]) -> None:
        with self._store:
            name = self._store.new_name("message", "M")
            self._store.put("message", name, {"id": name, **_read(raw, recipients)})


def receive_mail(listener: socket.socket, inbox: Inbox, moods: Moods) -> None:
    """Serves SMTP on an open listening socket, in a thread of its own."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(_Handler(inbox, moods), hostname="inbox.example"), sock=listener)
        await server.serve_forever()

    threading.Thread(target=asyncio.run, args=[run()], daemon=True).start()


class _Handler:
    """aiosmtpd calls this by name once a message is whole."""

    def __init__(self, inbox: Inbox, moods: Moods) -> None:
        self._inbox, self._moods = inbox, moods

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        raw = envelope.original_content or b""
        recipients = [str(to) for to in envelope.rcpt_tos]
        mood = self._moods.take("SMTP", "", "\n".join([*recipients, raw.decode("utf-8", "replace")]))
        if mood and mood.does == "refuse":
            return f"{mood.status if mood.status in range(400, 600) else 550} {mood.text}"
        self._inbox.keep(raw, recipients)
        if mood and mood.does == "delay":
            await asyncio.sleep(mood.seconds)
        if mood and mood.does == "drop" and server.transport:
            # The message is kept and the 250 never comes.
            server.transport.close()
        return "250 kept"


def _read(raw: bytes, recipients: list[str]) -> Document:
    message: Any = email.message_from_bytes(raw, policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    return {
        "message_id": str(message["message-id"] or ""),
        "from": str(message["from"] or ""),
        "to": recipients,
        "subject": str(message["subject"] or ""),
        "date": str(message["date"] or ""),
        "text": body.get_content() if body else "",
    }
