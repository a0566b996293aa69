"""Behind a transaction pooler notifications are lost and sessions don't last: it is noticed, and work is found."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from config import database
from config.house import preflight
from workflows import bells, queue

HEADER = 5  # bytes of a message of PostgreSQL's: its kind and its length


@contextlib.contextmanager
def deaf_proxy(url: str) -> Iterator[str]:
    """The address of a server that passes everything on but notifications, as a pooler does."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    target = (query.pop("host", "") or parts.hostname or "127.0.0.1", parts.port or 5432)
    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=_serve, args=(door, target), daemon=True).start()
        who = parts.netloc.rpartition("@")[0]
        netloc = f"{who}@127.0.0.1:{door.getsockname()[1]}"
        yield parts._replace(netloc=netloc, query=urlencode({**query, "sslmode": "disable"})).geturl()
        door.shutdown(socket.SHUT_RDWR)


def _serve(door: socket.socket, target: tuple[str, int]) -> None:
    with contextlib.suppress(OSError):
        while True:
            client = door.accept()[0]
            server = socket.create_connection(target)
            threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
            threading.Thread(target=_pass_answers, args=(server, client), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError), source, target:
        while data := source.recv(65536):
            target.sendall(data)


def _pass_answers(server: socket.socket, client: socket.socket) -> None:
    with contextlib.suppress(OSError), server.makefile("rb") as stream, client:
        while len(header := stream.read(HEADER)) == HEADER:
            body = stream.read(int.from_bytes(header[1:], "big") - HEADER + 1)
            if header[:1] != b"A":
                client.sendall(header + body)


def test_an_address_that_passes_no_notifications_is_not_known_as_a_pooler() -> None:
    url = os.environ["DATABASE_URL"]
    assert not preflight.pooled(url)
    with deaf_proxy(url) as behind:
        assert preflight.pooled(behind)


def test_behind_a_pooler_a_statement_is_kept_in_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(database.POOLED, "1")
    found = database.settings_of("postgresql://a@b/c")
    assert (found["OPTIONS"]["prepare_threshold"], found["DISABLE_SERVER_SIDE_CURSORS"]) == (None, True)


@pytest.mark.django_db(transaction=True)
def test_behind_a_pooler_two_drains_hold_one_slot_or_the_next_waits_for_one_that_was_given_back(settings: Any) -> None:
    settings.MAKEGOOD_POOLED = True
    first = bells.Listener(lambda: None, slots=1)
    second = bells.Listener(lambda: None, slots=1)
    assert (first.slot, second.slot, bells.drains_alive(), queue.deaf()) == (0, None, 1, "")
    second.close()
    assert bells.drains_alive() == 1
    first.close()
    assert bells.drains_alive() == 0
    third = bells.Listener(lambda: None, slots=1)
    assert third.slot == 0
    third.close()
