"""The API behind the server that ships: what only real sockets show."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import httpx
import pytest
from django.db import connection

from tests.api.conftest import Caller, poll

pytestmark = pytest.mark.django_db(transaction=True)
BODY = {"workflow": "sim", "subject": {"type": "customer", "id": "1"}}


@pytest.fixture(scope="module")
def address(django_db_setup: None) -> Iterator[str]:
    """Of a gunicorn on a free port over the tests' database, with four threads."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "config.wsgi"],
            env={
                **os.environ,
                "DATABASE_URL": database_url(connection.settings_dict),
                "MAKEGOOD_BIND": f"fd://{door.fileno()}",
                "MAKEGOOD_WEB_PROCESSES": "1",
                "MAKEGOOD_WEB_THREADS": "4",
            },
            pass_fds=[door.fileno()],
        )
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/api/v1/"
        finally:
            process.terminate()
            process.wait(20)


def database_url(parts: dict[str, str]) -> str:
    login = f"{quote(parts['USER'])}:{quote(parts['PASSWORD'])}" if parts["PASSWORD"] else quote(parts["USER"])
    by_socket = parts["HOST"].startswith("/")
    query = f"?host={quote(parts['HOST'])}" if by_socket else ""
    return f"postgresql://{login}@{'' if by_socket else parts['HOST']}:{parts['PORT']}/{parts['NAME']}{query}"


@pytest.fixture
def server(caller: Caller, address: str) -> Iterator[httpx.Client]:
    """A client with the caller's key."""
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {caller.key}"}, timeout=120) as client:
        yield client


def test_chunks_a_key_sent_twice_and_bytes_in_a_path(server: httpx.Client) -> None:
    chunks = [json.dumps(BODY).encode()[i : i + 7] for i in range(0, 100, 7)]
    started = server.post(
        "runs", content=iter(chunks), headers={"Idempotency-Key": "k", "Content-Type": "application/json"}
    )
    assert started.status_code == 201, started.text
    again = server.post("runs", json=BODY, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.json()["id"]) == (200, started.json()["id"])

    flood = (b" " * 65_536 for _ in range(32))
    kinds = {"Idempotency-Key": "big", "Content-Type": "application/json"}
    assert server.post("runs", content=flood, headers=kinds).json()["code"] == "too_large"
    for twice in ([("Idempotency-Key", "a"), ("Idempotency-Key", "a")], [("Idempotency-Key", "a,b")]):
        assert server.post("runs", json=BODY, headers=twice).json()["code"] == "key_missing"
    assert server.get("runs/%FF%00").json()["code"] == "not_found"
    assert server.get("runs", params={"external_id": "\x00"}).json()["errors"][0]["path"] == "external_id"


def test_those_who_wait_leave_threads_for_those_who_ask(server: httpx.Client) -> None:
    run = server.post("runs", json=BODY, headers={"Idempotency-Key": "k"}).json()["id"]

    def wait(_n: int) -> httpx.Response:
        while "Preference-Applied" not in (answer := server.get(f"runs/{run}", headers={"Prefer": "wait=60"})).headers:
            pass  # the one who counts the seats below had the last
        return answer

    with ThreadPoolExecutor(3) as pool:
        waiters = [pool.submit(wait, n) for n in range(3)]
        # Three of four threads may wait, so sooner or later a fourth who would is told to come back.
        poll(lambda: "Retry-After" in server.get(f"runs/{run}", headers={"Prefer": "wait=1"}).headers)
        assert server.post(f"runs/{run}/cancel", json={"reason": "x"}).status_code == 202
        assert {waiter.result(90).json()["phase"] for waiter in waiters} == {"unwinding"}
