"""How long people worked on a case: measured from what they did, and corrected beside it, never over it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from repairs import worked
from repairs.acts import claim
from repairs.models import Act, Case, Worked
from repairs.worked import MEASURED
from tests import locks

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
MINUTE = dt.timedelta(minutes=1)


def passes(span: dt.timedelta) -> None:
    """So long nothing is done."""
    Worked.objects.update(began=F("began") - span, until=F("until") - span)


def minutes(case: Case) -> dict[str, int]:
    told = Case.objects.annotate(**{MEASURED: worked.measured()}).get(id=case.id)
    return dict(worked.time_of(getattr(told, MEASURED), []).people)


def test_a_pause_counts_as_work_or_work_as_a_pause(stuck: Make, repairer: User, person: Make) -> None:
    case, other = stuck(), person("night desk", "repairer")
    worked.note(case.id, repairer.pk)
    passes(4 * MINUTE)
    worked.note(case.id, other.pk)
    worked.note(case.id, repairer.pk)
    passes(6 * MINUTE)
    worked.note(case.id, repairer.pk)
    passes(3 * MINUTE)
    worked.note(case.id, repairer.pk)
    assert minutes(case) == {"repairer": 7, "night desk": 0}
    assert Worked.objects.filter(user=repairer).count() == 2
    passes(-MINUTE)
    worked.note(case.id, repairer.pk)
    assert minutes(case) == {"repairer": 7, "night desk": 0}, "a clock that was set back takes work away"


@pytest.mark.parametrize("seconds", [[20, 20, 20], [90, 90], [29], [31, 31], [119.9, 0.2, 60], []])
def test_the_minutes_of_all_are_others_than_those_of_each_add_up_to(seconds: list[float]) -> None:
    time = worked.time_of([{"name": str(n), "seconds": spent} for n, spent in enumerate(seconds)], [])
    assert sum(minutes for _, minutes in time.people) == time.minutes == round(sum(seconds) / 60)
    assert all(abs(minutes * 60 - spent) < 60 for (_, minutes), spent in zip(time.people, seconds, strict=True))


def test_acts_or_the_holders_work_on_the_page_are_not_measured_or_others_reading_is(
    stuck: Make, repairer: User, person: Make, browse: Make
) -> None:
    case, client = stuck(), browse(repairer)
    claim.claim(case.id, by=repairer)
    fence = Case.objects.get(id=case.id).fence
    passes(3 * MINUTE)
    said = {"fence": fence, "as_of": "", "active": "1"}
    assert client.post(f"/repairs/{case.number}/here", said).status_code == 200
    browse(person("reader", "repairer")).post(f"/repairs/{case.number}/here", said)
    assert minutes(case) == {"repairer": 3}
    passes(2 * MINUTE)
    client.post(f"/repairs/{case.number}/here", {**said, "active": ""})
    assert minutes(case) == {"repairer": 3}, "a page that lies open is no work"


def test_a_correction_changes_what_was_measured_or_has_no_reason(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    worked.note(case.id, repairer.pk)
    passes(4 * MINUTE)
    worked.note(case.id, repairer.pk)
    for typed, says in (
        ("0", "needs 1 to 1440"),
        ("1.5", "needs 1 to 1440"),
        ("-5", "would leave -1 min"),
        ("1441", "needs 1 to 1440"),
        ("\u0663", "needs 1 to 1440"),
        ("-+5", "needs 1 to 1440"),
    ):
        answer = client.post(f"/repairs/{case.number}/time", {"minutes": typed, "text": "the phone"})
        page = answer.content.decode()
        assert (answer.status_code, says in page, "the phone</textarea>" in page) == (400, True, True), typed
    assert client.post(f"/repairs/{case.number}/time", {"minutes": "20", "text": " "}).status_code == 400
    assert not Act.objects.exists()
    client.post(f"/repairs/{case.number}/time", {"minutes": "20", "text": "on the phone with the provider"})
    time = client.get(f"/repairs/{case.number}/").context["time"]
    assert (time.minutes, time.corrected, [a.why for a in time.corrections]) == (
        4, 24, ["on the phone with the provider"],
    )  # fmt: skip
    client.post(f"/repairs/{case.number}/time", {"minutes": "-24", "text": "it was another case"})
    time = client.get(f"/repairs/{case.number}/").context["time"]
    assert (time.minutes, time.corrected, minutes(case)) == (4, 0, {"repairer": 4})


def test_an_act_and_a_page_that_tell_of_one_persons_work_at_once_wait_for_each_other(
    stuck: Make, repairer: User
) -> None:
    case = stuck()
    worked.note(case.id, repairer.pk)
    passes(6 * MINUTE)
    with transaction.atomic():
        Case.objects.select_for_update().get(id=case.id)  # as each act begins
        page = locks.begun(lambda: worked.note(case.id, repairer.pk))
        worked.note(case.id, repairer.pk)
    page.join(60)
    assert not page.is_alive()
    assert minutes(case) == {"repairer": 0}
