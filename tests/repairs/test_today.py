"""The filter "today" is the viewer's day, on the page, in its count and in its file (case D04)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from repairs import today
from repairs.models import Batch, Case, Person
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
NOW = dt.datetime(2026, 3, 10, 22, 46, tzinfo=dt.UTC)  # 06:46 of the 11th in Hong Kong
BEFORE, AFTER = NOW.replace(hour=15, minute=59), NOW.replace(hour=16, minute=1)


@pytest.fixture
def client(person: Make, browse: Make, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(today, "now", lambda: NOW)
    user = person("repairer", "repairer")
    Person.objects.update_or_create(user=user, defaults={"zone": "Asia/Hong_Kong"})
    found: Client = browse(user)
    return found


@pytest.fixture
def two(stuck: Make) -> tuple[Case, Case]:
    """One of yesterday and one of today, as the viewer's clock says; both on one day of UTC."""
    made = stuck(), stuck()
    for case, at in zip(made, (BEFORE, AFTER), strict=True):
        place(case, at)
    first, second = made
    return first, second


def place(case: Case, at: dt.datetime) -> None:
    """The case was opened, and its run and effects were made, at that moment."""
    Case.objects.filter(id=case.id).update(opened_at=at)
    Run.objects.filter(id=case.run_id).update(created_at=at)
    Effect.objects.filter(run=case.run_id).update(created_at=at)


def test_d04_today_is_another_day_than_the_one_that_the_pages_times_tell(
    client: Client, two: tuple[Case, Case]
) -> None:
    first, second = two
    queue = client.get("/repairs/?day=today").content.decode()
    assert re.findall(r'href="/repairs/(\d+)/"[^>]*data-row', queue) == [str(second.number)]
    assert "All open 1" in re.sub(r"\s+", " ", queue)
    assert "Opened (Asia/Hong_Kong)" in queue
    runs = client.get("/runs/?day=today").content.decode()
    assert (f"/runs/{second.run_id}/" in runs, f"/runs/{first.run_id}/" in runs) == (True, False)
    assert "Started (Asia/Hong_Kong)" in runs
    effects = client.get("/admin/workflows/effect/?day=today").content.decode()
    mine = {str(pk) for pk in Effect.objects.filter(run=second.run_id).values_list("id", flat=True)}
    assert set(re.findall(r'/([0-9a-f-]{36})/?" class="id" data-row', effects)) == mine
    assert "(Asia/Hong_Kong)" in effects


def test_d04_the_file_of_a_list_holds_other_days_than_the_list(client: Client, two: tuple[Case, Case]) -> None:
    first, second = two
    for address, names in (
        ("/repairs/export?view=all&day=today", (first.name, second.name)),
        ("/runs/export?day=today", (str(first.run_id), str(second.run_id))),
        ("/admin/workflows/effect/export?day=today", (str(first.run_id), str(second.run_id))),
    ):
        text = b"".join(client.get(address)).decode()
        assert (names[0] in text, names[1] in text) == (False, True), address


def test_d04_a_batch_of_todays_cases_does_not_say_which_day_and_whose(client: Client, two: tuple[Case, Case]) -> None:
    """A second person, in another zone or on the next day, reads it."""
    client.post("/repairs/batches/new", {"act": "claim", "of": "all", "view": "all", "day": "today"})
    batch = Batch.objects.get()
    assert (batch.count, batch.chosen) == (1, "all of All open, opened 2026-03-11 Asia/Hong_Kong")


@pytest.mark.parametrize("address", ["/repairs/?day=2026", "/runs/?day=2026", "/admin/workflows/effect/?day=2026"])
def test_another_day_than_today_is_taken_for_any(client: Client, address: str) -> None:
    assert client.get(address).status_code in (400, 404)


def test_what_was_made_long_before_today_is_read_one_by_one(client: Client, two: tuple[Case, Case]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        found = Run.objects.filter(today.today("created_at", by_id=True)).order_by("-id")[:50]
        plan = found.explain()
    assert "Index Cond: (id >=" in plan
