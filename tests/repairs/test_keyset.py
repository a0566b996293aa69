"""Pages by keys (case D17): each row once, whatever comes and goes meanwhile, and no cursor of another list."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.core.exceptions import SuspiciousOperation
from django.utils import timezone

from repairs import keyset
from workflows.models import Team

pytestmark = pytest.mark.django_db
ORDER = ("-created_at", "id")


@pytest.fixture
def at() -> dt.datetime:
    """25 rows of one moment."""
    moment = timezone.now()
    Team.objects.bulk_create(Team(name=f"d17-{number}") for number in range(25))
    Team.objects.filter(name__startswith="d17-").update(created_at=moment)
    return moment


def turn(cursor: str = "", of: str = "teams:d17") -> keyset.Page:
    start = keyset.read(cursor, of=of)
    at, after = start or (timezone.now(), None)
    return keyset.page(
        Team.objects.filter(name__startswith="d17-"), order=ORDER, of=of, at=at, after=after, size=10
    )  # fmt: skip


def test_d17_rows_of_one_moment_come_once_each_though_rows_go_and_come_meanwhile(at: dt.datetime) -> None:
    expected = set(Team.objects.filter(name__startswith="d17-").values_list("id", flat=True))
    seen: list[Any] = []
    page = turn()
    seen += [row.id for row in page.rows]
    page.rows[-1].delete()  # the one that the cursor names
    Team.objects.bulk_create(Team(name=f"d17-new-{number}") for number in range(5))
    Team.objects.filter(name__startswith="d17-new").update(created_at=at + dt.timedelta(seconds=1))
    while page.next:
        page = turn(page.next)
        seen += [row.id for row in page.rows]
    assert len(seen) == len(set(seen)) == 25
    assert set(seen) == expected


@pytest.mark.usefixtures("at")
def test_d17_a_cursor_of_another_list_or_one_that_was_changed_is_refused() -> None:
    cursor = turn().next
    for changed in (cursor[:-1], cursor[1:], f"{cursor}x", "x", "\x00"):
        with pytest.raises(SuspiciousOperation, match="begin the list anew"):
            turn(changed)
    with pytest.raises(SuspiciousOperation, match="begin the list anew"):
        turn(cursor, of="teams:other")
