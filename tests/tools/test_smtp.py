"""The kind smtp against a real mail server, and against raw ones that hang up at every point."""

from __future__ import annotations

import asyncio
import email
import email.policy
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.tools.calls import KEY, PROFILE, call, tool
from tests.tools.servers import RawServer, answer
from workflows.outcomes import Acknowledged, NotSent, Refused, Unknown, Verdict
from workflows.tools.base import Tool
from workflows.tools.wire.exchange import forget

MAIL = f"""
tools:
  t.t:
    version: 1
    kind: smtp
    profile: {PROFILE % "irreversible"}
    arguments: {{type: object, additionalProperties: true}}
    execute:
      from: "Desk <desk@sender.example>"
      to: "${{ args.email }}"
      cc: "${{ args.cc }}"
      subject: "Confirmed: ${{ args.subject }}"
      text: "Hello\\n.\\n.dot and a bare \\r line"
      html: "<p>Hello</p>"
      attachments: [{{name: a.txt, type: text/plain, base64: "aGk="}}]
      timeout: 2s
"""
ARGUMENTS = {"email": "Office <office@example.com>", "cc": ["billing@example.com"], "subject": "grün"}
IDENTITY = f"<{KEY}@sender.example>"


PATIENCE = 60  # seconds for a thread on a machine that does much else


class MailServer:
    """aiosmtpd in a thread, on a free port. `replies` are given after DATA, by order; then 250."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.replies: list[str | Callable[[SMTP], str]] = []
        self.refused: set[str] = set()
        self._loop = asyncio.new_event_loop()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._serving = threading.Event()

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, to: str, options: Any
    ) -> str:
        if to in self.refused:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.original_content or b""
        self.messages.append((envelope.rcpt_tos, email.message_from_bytes(content, policy=email.policy.default)))
        reply = self.replies.pop(0) if self.replies else "250 kept"
        return reply if isinstance(reply, str) else reply(server)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._serving.wait(PATIENCE)
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        making = self._loop.create_server(lambda: SMTP(self, hostname="mx.example", loop=self._loop), sock=self._socket)
        server = self._loop.run_until_complete(making)
        self._serving.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    with MailServer() as running:
        use(monkeypatch, running.port)
        yield running


@pytest.fixture
def mail() -> Tool:
    return tool(MAIL)


def use(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    monkeypatch.setenv("MAKEGOOD_SMTP_HOST", "127.0.0.1")
    monkeypatch.setenv("MAKEGOOD_SMTP_PORT", str(port))


def test_a_mail_is_handed_over_once_with_a_message_id_made_of_its_key(server: MailServer, mail: Tool) -> None:
    outcome = mail.send(call(arguments=ARGUMENTS))
    assert isinstance(outcome, Acknowledged)
    assert outcome.result == {"message_id": IDENTITY}
    ((receivers, message),) = server.messages
    assert receivers == ["office@example.com", "billing@example.com"]
    assert (message["Message-ID"], message["Subject"], message["To"]) == (
        IDENTITY,
        "Confirmed: grün",
        "Office <office@example.com>",
    )
    assert message.get_body(("plain",)).get_content().splitlines() == ["Hello", ".", ".dot and a bare ", " line"]
    assert [part.get_filename() for part in message.iter_attachments()] == ["a.txt"]


def test_a_draft_of_a_mail_is_not_what_is_handed_over(server: MailServer, mail: Tool) -> None:
    (draft,) = mail.draft(call(arguments=ARGUMENTS))
    assert server.messages == []
    outcome = mail.send(call(arguments=ARGUMENTS))
    assert draft.digest == outcome.evidence["request"]["digest"]
    assert draft.line == "mail to office@example.com, billing@example.com"
    ((_, message),) = server.messages
    assert {name: message[name] for name, _ in draft.headers} == dict(draft.headers)
    told = message.get_body(("plain",)).get_content().splitlines()
    assert draft.body.splitlines()[: len(told)] == told
    assert "attached: a.txt, text/plain, 2 bytes, sha256 " in draft.body


def test_one_refused_receiver_stops_the_mail_before_its_content(server: MailServer, mail: Tool) -> None:
    server.refused.add("billing@example.com")
    outcome = mail.send(call(arguments=ARGUMENTS))
    assert isinstance(outcome, Refused)
    assert outcome.reason == "the mail server refused: 550 no such mailbox (for billing@example.com)"
    assert server.messages == []


@pytest.mark.parametrize(("reply", "temporary"), [("451 try later", True), ("554 spam", False)])
def test_a_no_after_the_content_is_the_servers_word(
    server: MailServer, mail: Tool, reply: str, temporary: bool
) -> None:
    server.replies.append(reply)
    outcome = mail.send(call(arguments=ARGUMENTS))
    assert isinstance(outcome, Refused)
    assert (outcome.temporary, reply in outcome.reason) == (temporary, True)


def test_a_connection_lost_after_the_content_is_unknown_though_it_was_kept(server: MailServer, mail: Tool) -> None:
    def hang_up(session: SMTP) -> str:
        assert session.transport
        session.transport.close()
        return "250 never heard"

    server.replies.append(hang_up)
    outcome = mail.send(call(arguments=ARGUMENTS))
    assert isinstance(outcome, Unknown)
    assert len(server.messages) == 1


TALK = [b"220 hi\r\n", b"250 hello\r\n", b"250 ok\r\n", b"250 ok\r\n", b"250 ok\r\n", b"354 go\r\n"]


@pytest.mark.parametrize(
    ("script", "kind", "says"),
    [
        ([b""], NotSent, "lost"),
        ([b"220 hi\r\n", None], NotSent, "no answer within 0.4 s"),
        ([b"SSH-2.0-x\r\n"], NotSent, ""),
        ([b"554 go away\r\n"], Refused, "554 go away"),
        ([b"421 busy\r\n"], Refused, "421 busy"),
        ([b"".join(TALK[:5])], NotSent, "lost"),
        ([b"".join(TALK), None], Unknown, "no answer within 0.4 s"),
    ],
)
def test_what_ends_before_the_content_is_proof_and_after_it_is_unknown(
    mail: Tool, monkeypatch: pytest.MonkeyPatch, script: list[bytes | None], kind: type, says: str
) -> None:
    mail.spec["execute"]["timeout"] = 0.4
    with RawServer(script, speaks_first=True) as raw:
        use(monkeypatch, int(raw.url.rpartition(":")[2]))
        outcome = mail.send(call(arguments=ARGUMENTS))
    assert isinstance(outcome, kind)
    assert says in outcome.reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "arguments",
    [
        {"email": "a@example.com\r\nBcc: x@example.com"},
        {"email": "a@example.com, x@example.com"},
        {"email": "group: a@example.com;"},
        {"email": "a@example.com (b@example.com)"},
        {"email": ""},
        {"subject": "x\r\nBcc: x@example.com"},
        {"cc": ["not an address"]},
        {"cc": ["a@example.com"] * 60},
    ],
)
def test_no_header_or_receiver_comes_in_through_a_value(
    server: MailServer, mail: Tool, arguments: dict[str, Any]
) -> None:
    assert isinstance(mail.send(call(arguments=ARGUMENTS | arguments)), Refused)
    assert server.messages == []


def test_without_a_server_nothing_is_sent_and_the_reason_names_the_setting(
    mail: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAKEGOOD_SMTP_HOST", raising=False)
    reason = "no mail server: MAKEGOOD_SMTP_HOST isn't set"
    assert mail.send(call(arguments=ARGUMENTS)) == NotSent(reason=reason, ours=True)
    use(monkeypatch, 1)
    assert isinstance(mail.send(call(arguments=ARGUMENTS)), NotSent)
    monkeypatch.setenv("MAKEGOOD_ALLOW_PRIVATE_HOSTS", "0")
    assert isinstance(mail.send(call(arguments=ARGUMENTS)), Refused)


def test_without_a_mailbox_there_is_nothing_to_look_into(mail: Tool) -> None:
    assert not mail.timings("execute").can_look
    assert not mail.timings("execute").repeats
    assert mail.look(call(arguments=ARGUMENTS)).verdict is Verdict.INCONCLUSIVE
    assert not mail.has("compensate")


@pytest.mark.parametrize(
    ("items", "verdict"), [("[]", Verdict.ABSENT), ("[1]", Verdict.FOUND), ("[1, 2]", Verdict.SEVERAL)]
)
def test_a_mailbox_over_http_is_asked_by_message_id(items: str, verdict: Verdict) -> None:
    box = """
    mailbox: {url: "URL/messages?id=${ message_id }", several: "size(body.items) > 1", found: "size(body.items) == 1",
              absent: "size(body.items) == 0"}
"""
    with RawServer([answer(b'{"items": ' + items.encode() + b"}")]) as inbox:
        seen = tool(MAIL + box.replace("URL", inbox.url)).look(call(arguments=ARGUMENTS))
        forget()
        assert inbox.requests[0].startswith(f"GET /messages?id=%3C{KEY}%40sender.example%3E ".encode())
    assert seen.verdict is verdict
    assert seen.result == ({"message_id": IDENTITY} if verdict is Verdict.FOUND else {})


@pytest.mark.parametrize(
    ("replies", "verdict", "reached"),
    [
        (["OK in", "OK [READ-ONLY] open", "* SEARCH 4\r\n OK done"], Verdict.FOUND, True),
        (["OK in", "OK [READ-ONLY] open", "* SEARCH\r\n OK done"], Verdict.ABSENT, True),
        (["OK in", "OK [READ-ONLY] open", "* SEARCH 4 5\r\n OK done"], Verdict.SEVERAL, True),
        (["NO not pa55word"], Verdict.INCONCLUSIVE, False),
        (["OK in", "NO no such folder"], Verdict.INCONCLUSIVE, True),
        ([], Verdict.INCONCLUSIVE, False),
    ],
)
def test_a_mailbox_over_imap_is_searched_by_message_id(
    monkeypatch: pytest.MonkeyPatch, replies: list[str], verdict: Verdict, reached: bool
) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_BOX", "pa55word")
    with ImapServer(replies) as server:
        box = f"""
    mailbox: {{imap: {{host: 127.0.0.1, port: {server.port}, tls: false, username: me,
                       password: "${{ secret('BOX') }}"}}}}
"""
        seen = tool(MAIL + box).look(call(arguments=ARGUMENTS))
    assert (seen.verdict, seen.reached) == (verdict, reached)
    assert "pa55word" not in repr(seen)
    assert (seen.rejected is not None) == (replies == ["NO not pa55word"]), "who was refused is taken for an answer"
    if len(replies) == 3:
        assert f'SEARCH HEADER Message-ID "{IDENTITY}"' in server.asked[-1]


@pytest.mark.parametrize(("login", "parked"), [("535 5.7.8 not pa55word", True), ("454 4.7.0 later", False)])
def test_a_mail_server_that_does_not_know_who_asks_says_nothing_of_the_mail(
    monkeypatch: pytest.MonkeyPatch, login: str, parked: bool
) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_SMTP_PASSWORD", "pa55word")
    monkeypatch.setenv("MAKEGOOD_SMTP_USER", "desk")
    script = [b"220 hello\r\n250-hi\r\n250 AUTH PLAIN\r\n" + f"{login}\r\n".encode(), None]
    with RawServer(script, speaks_first=True) as raw:
        monkeypatch.setenv("MAKEGOOD_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("MAKEGOOD_SMTP_PORT", raw.url.rpartition(":")[2])
        mail = tool(MAIL)
        told = mail.send(call(arguments=ARGUMENTS))
    assert isinstance(told, Refused)
    assert (told.temporary, told.rejected is not None) == (True, parked)
    assert "pa55word" not in repr(told) + told.reason
    assert "SMTP_PASSWORD" in mail.needs("execute").secrets


class ImapServer:
    """As much of IMAP as one search needs."""

    def __init__(self, replies: list[str]) -> None:
        self.replies, self.asked = replies, list[str]()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._thread.join(PATIENCE)
        self._socket.close()

    def _run(self) -> None:
        connection, _ = self._socket.accept()
        with connection, connection.makefile("rwb", buffering=0) as stream:
            stream.write(b"* OK hello\r\n")
            left = list(self.replies)
            while line := stream.readline().decode():
                tag, _, asked = line.strip().partition(" ")
                if asked.startswith("CAPABILITY"):
                    stream.write(f"* CAPABILITY IMAP4rev1\r\n{tag} OK done\r\n".encode())
                    continue
                self.asked.append(asked)
                if not left:
                    return
                untagged, _, rest = left.pop(0).rpartition("\r\n")
                stream.write((f"{untagged}\r\n" if untagged else "").encode() + f"{tag} {rest.strip()}\r\n".encode())
