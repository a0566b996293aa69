"""ETag, If-None-Match and Prefer: wait, to the letter of the contract; and who waits holds nothing that others need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests.api.conftest import Answer, Caller, poll, problem, read
from workflows import waiting
from workflows.drain import drain_once
from workflows.waiting import Ear


@pytest.fixture
def run(caller: Caller) -> str:
    return str(caller.start()["id"])


def tag(caller: Caller, run: str) -> str:
    return str(caller.get(f"runs/{run}").headers["ETag"])


@pytest.mark.parametrize(
    "sent",
    ["{0}", "W/{0}", '"{1}-gzip"', 'W/"{1}-br"', '"{1};gzip"', '"other", {0}', '"a","b" ,{0}', "*", "{1}"],
    ids=["as is", "weakened", "gzip", "weak br", "old gzip", "in a list", "in a tight list", "any", "without quotes"],
)
def test_a_known_tag_is_answered_304_however_a_proxy_dressed_it(caller: Caller, run: str, sent: str) -> None:
    now = tag(caller, run)
    answer = caller.get(f"runs/{run}", **{"If-None-Match": sent.format(now, now.strip('"'))})
    assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", now)


@pytest.mark.parametrize("sent", ["", '"other"', '"x-gzip"', "W/", '""', "\x00", '"unclosed', ",", '"*"', 'W/"*"'])
def test_an_unknown_tag_is_answered_with_the_run(caller: Caller, run: str, sent: str) -> None:
    assert caller.get(f"runs/{run}", **{"If-None-Match": sent}).status_code == 200


def test_the_tag_stays_while_the_run_does_and_changes_with_it(caller: Caller, run: str) -> None:
    first = tag(caller, run)
    assert first == tag(caller, run)
    caller.post(f"runs/{run}/cancel", {"reason": "x"})
    assert first != tag(caller, run)


def test_whatever_a_call_answers_its_tag_is_that_of_the_run(caller: Caller) -> None:
    body = {"open": True, "subject": {"type": "a", "id": "1"}}
    run = read(first := caller.post("runs", body, key="k"))["id"]
    assert first.headers["ETag"] == tag(caller, run)
    for path, sent in (("runs", body), (f"runs/{run}/seal", None), (f"runs/{run}/cancel", {"reason": "x"})):
        assert caller.post(path, sent, key="k").headers["ETag"] == tag(caller, run)


def test_a_tag_that_differs_is_answered_at_once(caller: Caller, run: str) -> None:
    answer = caller.get(f"runs/{run}", Prefer="wait=60", **{"If-None-Match": '"old"'})
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers


@pytest.mark.parametrize("prefer", ["wait=0", "wait=-5", "wait=abc", "wait", "respond-async", "", "wait=١"])
def test_a_preference_that_can_t_be_read_is_passed_over(caller: Caller, run: str, prefer: str) -> None:
    answer = caller.get(f"runs/{run}", Prefer=prefer, **{"If-None-Match": tag(caller, run)})
    assert answer.status_code == 304


def test_a_run_that_is_over_is_answered_at_once(caller: Caller, run: str) -> None:
    drain_once(slots=1)
    answer = caller.get(f"runs/{run}", Prefer="wait=60")
    assert (answer.status_code, read(answer)["phase"]) == (200, "over")


def test_without_a_change_the_end_of_the_wait_is_304_or_the_run_as_it_is(
    caller: Caller, run: str, ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = caller.get(f"runs/{run}", Prefer="respond-async, wait=1", **{"If-None-Match": tag(caller, run)})
    assert (known.status_code, known.headers["Preference-Applied"]) == (304, "wait=1")
    unknown = caller.get(f"runs/{run}", Prefer='wait="1"; foo')
    assert (unknown.status_code, unknown.headers["Preference-Applied"]) == (200, "wait=1")


def test_one_too_many_is_answered_at_once_and_told_when_to_come_back(
    caller: Caller, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "MOST_WAITERS", 0)
    answer = caller.get(f"runs/{run}", Prefer="wait=60", **{"If-None-Match": tag(caller, run)})
    assert (answer.status_code, answer.headers["Retry-After"]) == (304, "1")
    assert "Preference-Applied" not in answer.headers


@pytest.fixture
def only_bells(monkeypatch: pytest.MonkeyPatch) -> None:
    """No look but at a bell: a test that ends in time was woken by one."""
    monkeypatch.setattr(waiting, "LOOK_AGAIN", 600.0)


@pytest.fixture
def waits(caller: Caller, run: str, ear: Ear) -> Iterator[Callable[..., Future[Answer]]]:
    """`waits(**headers)`: a GET in a thread of its own that has sat down to wait."""

    def begin(**headers: str) -> Future[Answer]:
        seated = ear.taken
        future = pool.submit(ask, headers)
        poll(lambda: ear.taken > seated or future.done())
        return future

    def ask(headers: dict[str, str]) -> Answer:
        try:
            return caller.get(f"runs/{run}", Prefer="wait=60", **headers)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        yield begin


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("only_bells")
def test_a_change_wakes_who_knows_the_run_and_who_doesn_t(
    caller: Caller, run: str, waits: Callable[..., Future[Answer]]
) -> None:
    known, unknown = waits(**{"If-None-Match": tag(caller, run)}), waits()
    other = caller.start()["id"]
    caller.post(f"runs/{other}/cancel", {"reason": "another run's bell"})
    assert not known.done()
    caller.post(f"runs/{run}/cancel", {"reason": "x"})
    for answer in (known.result(45), unknown.result(45)):
        assert (answer.status_code, read(answer)["phase"]) == (200, "unwinding")
        assert answer.headers["Preference-Applied"] == "wait=60"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("only_bells")
def test_what_changed_while_the_listening_connection_was_gone_is_not_missed(
    caller: Caller, run: str, waits: Callable[..., Future[Answer]], ear: Ear
) -> None:
    waiter = waits()
    poll(ear.listening.is_set)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE 'LISTEN makegood_runs%'"
        )
        assert cursor.fetchall() == [(True,)]
    caller.post(f"runs/{run}/cancel", {"reason": "x"})
    assert read(waiter.result(45))["phase"] == "unwinding"


@pytest.mark.django_db(transaction=True)
def test_who_waits_holds_no_connection(ear: Ear) -> None:
    backends: list[int] = []
    go = threading.Event()

    def look() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backends.append(cursor.fetchone()[0])

    def alive() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [backends[0]])
            return bool(cursor.fetchone()[0])

    def wait() -> Any:
        try:
            return waiting.until("some run", 60, look=look, enough=lambda _seen: go.is_set())
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(wait)
        try:
            poll(lambda: backends)
            poll(lambda: not alive())
        finally:
            go.set()
            ear._ring_all()
        future.result(45)


def test_an_id_that_is_none_never_waits(caller: Caller) -> None:
    assert problem(caller.get("runs/nope", Prefer="wait=60")) == (404, "not_found", [])
