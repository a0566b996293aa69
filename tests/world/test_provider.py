"""The lying provider lies as told, and its oracle never does."""

from __future__ import annotations

import concurrent.futures
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.world.provider import Provider
from tests.world.remote import provider_process

BODY = {"email": "onboarding@acme.example", "reference": "k1"}
KEY = {"Idempotency-Key": "k1"}


@pytest.fixture
def world() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def web(world: Provider) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=world.url, trust_env=False, timeout=10) as client:
        yield client


def test_an_honest_provider_keeps_one_object_per_key_through_create_read_change_and_delete(
    world: Provider, web: httpx.Client
) -> None:
    made = web.post("/contacts", json=BODY, headers=KEY)
    again = web.post("/contacts", json=BODY, headers=KEY)
    assert (made.status_code, again.status_code, again.json()) == (201, 201, made.json())
    assert again.headers["idempotent-replayed"] == "true"
    assert web.post("/contacts", json={**BODY, "x": 1}, headers=KEY).status_code == 422
    found = web.get("/contacts", params={"reference": "k1"}).json()
    assert found == {"items": [made.json()]}
    here = f"/contacts/{made.json()['id']}"
    etag = web.get(here).headers["etag"]
    assert web.patch(here, json={"title": "B"}, headers={"If-Match": etag}).json()["title"] == "B"
    assert web.patch(here, json={"title": "C"}, headers={"If-Match": etag}).status_code == 412
    assert [web.delete(here).status_code, web.delete(here).status_code] == [204, 404]
    truth = world.oracle
    assert truth["objects"] == []
    assert [(o["key"], o["reference"], o["attempt"], o["changes"]) for o in truth["deleted"]] == [("k1", "k1", 1, 3)]
    assert [w["key"] for w in truth["wire"][:2]] == ["k1", "k1"]


# answer, what the caller meets, objects booked
BROKEN: list[tuple[str, dict[str, Any], type[Exception] | int, int]] = [
    ("cut", {}, httpx.NetworkError, 1),
    ("close", {}, httpx.RemoteProtocolError, 1),
    ("silence", {}, httpx.ReadTimeout, 1),
    ("short", {}, httpx.RemoteProtocolError, 1),
    ("cut_chunked", {}, httpx.RemoteProtocolError, 1),
    ("html200", {}, 200, 1),
    ("wrong_type", {}, 201, 1),
    ("huge", {"size": 300_000}, 201, 1),
    ("gzip_bomb", {"size": 300_000}, 201, 1),
    ("error200", {}, 200, 0),
    ("500", {"book": "before"}, 500, 1),
    ("503", {}, 503, 0),
    ("429", {"retry_after": "-3"}, 429, 0),
    ("redirect", {"status": 308, "location": "http://other.example/contacts"}, 308, 0),
    ("normal", {"book": "never"}, 201, 0),
]


@pytest.mark.parametrize(("answer", "fields", "met", "booked"), BROKEN, ids=[row[0] for row in BROKEN])
def test_each_broken_answer_comes_once_and_books_what_it_says(
    answer: str, fields: dict[str, Any], met: type[Exception] | int, booked: int, world: Provider, web: httpx.Client
) -> None:
    world.script(path="/contacts", answer=answer, **fields)
    timeout = 0.3 if answer == "silence" else 10
    if isinstance(met, int):
        assert web.post("/contacts", json=BODY, timeout=timeout).status_code == met
    else:
        with pytest.raises(met):
            web.post("/contacts", json=BODY, timeout=timeout)
    assert len(world.objects("contacts")) == booked
    assert web.post("/contacts", json=BODY).status_code == 201
    assert len(world.objects("contacts", email=BODY["email"])) == booked + 1
    assert world.wire("POST")[0].answered == answer


def test_a_drip_outlives_a_read_timeout_that_is_counted_per_read(world: Provider, web: httpx.Client) -> None:
    world.script(answer="drip")
    with web.stream("POST", "/contacts", json=BODY, timeout=5) as answer:
        pieces = answer.iter_raw()
        assert [next(pieces), next(pieces), next(pieces)] == [b" ", b" ", b" "]


def test_a_slammed_connection_never_becomes_a_request(world: Provider, web: httpx.Client) -> None:
    world.slam()
    with pytest.raises(httpx.TransportError):  # refused while writing or while reading: the client's luck
        web.post("/contacts", json=BODY)
    assert world.wire() == []


def test_late_booking_is_seen_late(world: Provider, web: httpx.Client) -> None:
    world.script(book="late", late=0.2, answer="cut")
    with pytest.raises(httpx.NetworkError):
        web.post("/contacts", json=BODY)
    assert world.objects() == []
    while not world.objects():
        assert web.get("/contacts").status_code == 200
    assert len(world.objects()) == 1


def test_booking_after_the_answer_is_still_booked(world: Provider, web: httpx.Client) -> None:
    world.script(book="after", answer="cut")
    with pytest.raises(httpx.NetworkError):
        web.post("/contacts", json=BODY)
    while not world.objects():
        assert web.get("/contacts").status_code == 200


def test_ignored_keys_make_twins_and_a_twin_in_flight_is_a_conflict(world: Provider, web: httpx.Client) -> None:
    world.script(keys="ignored", times=2)
    for _ in range(2):
        web.post("/contacts", json=BODY, headers=KEY)
    assert [o.attempt for o in world.objects()] == [1, 2]
    gate = world.hold("/contacts")
    world.script(keys="conflict", times=None)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = pool.submit(web.post, "/contacts", json=BODY, headers={"Idempotency-Key": "k2"})
        assert gate.arrived()
        # The first is held before its key is known, so this one is the first to be worked on.
        assert web.post("/contacts", json=BODY, headers={"Idempotency-Key": "k2"}).status_code == 201
        gate.release()
        assert first.result().headers["idempotent-replayed"] == "true"
        held = world.hold("/contacts", where="booked")
        world.script(book="late", late=30, times=1)
        slow = pool.submit(web.post, "/contacts", json=BODY, headers={"Idempotency-Key": "k3"})
        assert held.arrived()
        assert web.post("/contacts", json=BODY, headers={"Idempotency-Key": "k3"}).status_code == 409
        held.release()
        assert slow.result().status_code == 201
    assert len(world.objects()) == 3


def test_reads_lag_by_time_or_by_count_and_an_unreachable_or_wrong_page_is_no_absence(
    world: Provider, web: httpx.Client
) -> None:
    here = "/contacts/" + web.post("/contacts", json=BODY).json()["id"]
    world.script(method="GET", read="lagging", times=2)
    assert [web.get(here).status_code for _ in range(3)] == [404, 404, 200]
    web.patch(here, json={"title": "B"})
    world.script(method="GET", read="lagging")
    assert ["title" in web.get(here).json() for _ in range(2)] == [False, True]
    world.script(method="GET", read="lagging", lag=60)
    assert web.get("/contacts").json() == {"items": []}
    world.script(method="GET", read="missing")
    world.script(method="GET", read="unavailable")
    world.script(method="GET", read="html")
    assert [web.get(here).status_code for _ in range(4)] == [404, 503, 200, 200]
    web.delete(here)
    world.script(method="GET", read="lagging")
    assert [web.get(here).status_code for _ in range(2)] == [200, 404]


@pytest.mark.parametrize(
    ("undo", "status", "left"),
    [
        ("works", 204, 0),
        ("refused", 409, 1),
        ("lies", 204, 1),
        ("gone", 404, 0),
        ("error", 500, 1),
        ("partial", 200, 1),
        ("closed", 409, 1),
    ],
)
def test_each_undoing_does_what_it_says(undo: str, status: int, left: int, world: Provider, web: httpx.Client) -> None:
    here = "/contacts/" + web.post("/contacts", json=BODY).json()["id"]
    world.script(method="DELETE", undo=undo)
    assert web.delete(here).status_code == status
    assert len(world.objects()) == left


def test_pending_work_is_polled_to_its_end(world: Provider, web: httpx.Client) -> None:
    world.script(answer="202", book="late", polls=1)
    started = web.post("/contacts", json=BODY)
    assert (started.status_code, world.objects()) == (202, [])
    where = started.headers["operation-location"]
    assert [web.get(where).json()["state"] for _ in range(2)] == ["running", "ok"]
    assert len(world.objects()) == 1
    world.script(answer="202", fails=True)
    failed = web.post("/contacts", json=BODY)
    assert web.get(failed.headers["operation-location"]).json()["state"] == "failed"
    assert len(world.objects()) == 1


def test_foreign_objects_and_unique_fields_stand_in_the_way(world: Provider, web: httpx.Client) -> None:
    world.script(foreign=True, answer="cut", book="never")
    with pytest.raises(httpx.NetworkError):
        web.post("/contacts", json=BODY)
    theirs = web.get("/contacts", params={"reference": "k1"}).json()["items"]
    assert [item["email"] for item in theirs] == ["somebody@else.example"]
    number = world.plant("contacts", email=BODY["email"])
    world.script(unique="email")
    refused = web.post("/contacts", json=BODY, headers=KEY)
    assert (refused.status_code, refused.json()["error"]) == (409, f"It exists already. Existing ID: {number}")
    assert web.post("/contacts", json=BODY, headers=KEY).status_code == 201


def test_calls_that_wait_for_each_other_are_answered_only_together(world: Provider, web: httpx.Client) -> None:
    world.together(4)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: web.post("/charge", json={"n": n}).status_code, range(4)))
    assert answers == [201] * 4


def test_one_in_its_own_process_says_the_same_over_http() -> None:
    with provider_process() as world, httpx.Client(base_url=world.url, trust_env=False) as web:
        gate = world.hold("/contacts", where="before")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            call = pool.submit(web.post, "/contacts", json=BODY)
            assert gate.arrived()
            gate.release(book=False)
            with pytest.raises(httpx.NetworkError):
                call.result()
        world.script(answer="503", times=None)
        assert web.post("/contacts", json=BODY).status_code == 503
        world.clear()
        world.plant("contacts", email="x")
        assert [o["foreign"] for o in world.oracle["objects"]] == [True]
        wrong = web.post("/_switch", content=json.dumps({"answer": "nonsense"}))
        assert (wrong.status_code, "nonsense" in wrong.text) == (400, True)
