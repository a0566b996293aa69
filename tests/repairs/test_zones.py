"""Times in the viewer's zone: what the console shows, the days where the clock is changed, and what stays UTC."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.models import Person
from repairs.templatetags.console import when
from repairs.words import clock
from workflows.models import Run

Make = Callable[..., Any]


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


@pytest.fixture
def hong_kong() -> Iterator[None]:
    with clock.only_here():
        clock.use("Asia/Hong_Kong")
        yield


@pytest.fixture
def berlin() -> Iterator[None]:
    with clock.only_here():
        clock.use("Europe/Berlin")
        yield


@pytest.mark.usefixtures("hong_kong")
def test_a_time_is_shown_in_the_viewers_zone_with_utc_as_its_title() -> None:
    shown = when(moment("2026-03-10T16:01:00"), moment("2026-03-10T22:46:00"))
    assert shown == ('<time datetime="2026-03-10T16:01:00.000Z" title="2026-03-10 16:01:00.000 UTC">00:01:00</time>')
    assert ">10 Mar 23:59<" in when(moment("2026-03-10T15:59:00"), moment("2026-03-10T22:46:00"))


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2026-10-25T00:30:00", "2026-10-25 02:30:00 CEST"),
        ("2026-10-25T01:30:00", "2026-10-25 02:30:00 CET"),
        ("2026-10-25T02:30:00", "2026-10-25 03:30:00"),
        ("2026-03-29T00:59:59", "2026-03-29 01:59:59"),
        ("2026-03-29T01:00:00", "2026-03-29 03:00:00"),
    ],
)
def test_an_hour_that_is_there_twice_says_which_it_is(at: str, shown: str) -> None:
    assert f">{shown}<" in when(moment(at))


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(("noon", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-07-01", 24)])
def test_a_day_is_the_zones_day_whatever_its_length(noon: str, hours: int) -> None:
    begin, end = clock.day(moment(f"{noon}T12:00:00"))
    assert (end - begin) == dt.timedelta(hours=hours)
    assert clock.day(end - dt.timedelta(seconds=1)) == (begin, end)
    assert clock.day(end)[0] == end


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd", "localtime", "UTC\x00"])
def test_a_zone_that_is_none_is_refused_and_what_was_typed_is_kept(name: str, person: Make, browse: Make) -> None:
    user: User = person("repairer", "repairer")
    answer = browse(user).post("/account/zone", {"zone": name})
    assert answer.status_code == 400
    assert "is no zone of places" in answer.content.decode()
    assert not Person.objects.exclude(zone="UTC").exists()


@pytest.mark.django_db(transaction=True)
def test_a_persons_zone_is_theirs_alone_and_agents_stay_with_utc(stuck: Make, person: Make, browse: Make) -> None:
    case = stuck()
    one, other = browse(person("repairer", "repairer")), browse(person("second", "repairer"))
    assert one.post("/account/zone", {"zone": "Asia/Kathmandu"}).status_code == 302
    page = one.get("/runs/").content.decode()
    assert clock.zone() == "UTC"  # of this thread, which answers agents too
    begun = Run.objects.get(id=case.run_id).created_at
    assert f">{begun + dt.timedelta(hours=5, minutes=45):%H:%M:%S}<" in page
    assert "Times are those of Asia/Kathmandu" in page
    page = other.get("/runs/").content.decode()
    assert "All times are UTC" in page
    assert f">{begun:%H:%M:%S}<" in page
    Person.objects.update(zone="Mars/Olympus")
    assert "All times are UTC" in one.get("/runs/").content.decode(), "a zone that is gone by now breaks every page"
