"""By when something must be done: each moment that a case knows of, and that it orders the queue."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs import worklist
from repairs.acts import hurts, snooze
from repairs.models import Act, Case, Person
from repairs.words.facts import EffectFacts, Reason
from repairs.words.limits import limits
from tests.engine.simulated import World
from workflows import rows
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HOUR = dt.timedelta(hours=1)
NOW = dt.datetime(2026, 3, 10, 14, 0, tzinfo=dt.UTC)


@pytest.fixture
def repairer(person: Make) -> User:
    user: User = person("day-desk", "repairer")
    return user


@pytest.fixture
def client(repairer: User, browse: Make) -> Client:
    found: Client = browse(repairer)
    return found


def now_of(case: Case) -> Case:
    return Case.objects.select_related("run").get(id=case.id)


def fact(**more: Any) -> EffectFacts:
    base = {"id": "e1", "step": "pay", "tool": "pay.charge", "state": "verified", "world": "present", "attempts": 1}
    return EffectFacts(**{**base, **more})


def test_until_when_what_stands_can_be_undone_counts_only_where_that_is_to_be_decided() -> None:
    stands, undone = fact(window_until=NOW + HOUR), fact(id="e2", step="crm", world="gone", window_until=NOW)
    assert [one.of for one in limits([Reason(code="hold", step="mail")], [stands, undone])] == ["pay"]
    assert limits([Reason(code="budget")], [stands]) == []
    stuck = fact(id="e3", state="stuck", world="unknown", keyed=True, key_until=NOW + 2 * HOUR, window_until=NOW + HOUR)
    both = limits([Reason(code="unreachable", effect="e3")], [stands, stuck])
    assert [(one.at, one.then) for one in both] == [
        (NOW + HOUR, "then it can't be undone any more"),
        (NOW + 2 * HOUR, "then the provider forgets our key"),
    ]


@pytest.mark.parametrize(
    ("declared", "hours"),
    [
        ({"window": 3 * 3600}, 3),
        ({"window_until": "${ '2999-01-05T09:00:00+00:00' }"}, None),
        ({"window": 3 * 3600, "window_until": "${ '2020-01-05T09:00:00+00:00' }"}, 0),
    ],
)
def test_a_window_that_a_tool_declares_is_no_cut_off_of_the_case(
    stuck: Make, client: Client, declared: dict[str, Any], hours: int | None
) -> None:
    """A refused undoing; its tool says until when it may be called, by a length, a moment, or whichever is nearer."""
    case = stuck(undo=declared)
    undoing = Effect.objects.select_related("compensates").get(state="stuck", run=case.run_id)
    assert undoing.compensates is not None
    sent = undoing.compensates.first_sent_at
    assert sent is not None
    at = sent + dt.timedelta(hours=hours) if hours else dt.datetime(2999, 1, 5, 9, tzinfo=dt.UTC)
    page = unescape(client.get(f"/repairs/{case.number}/").content.decode())
    if hours == 0:
        assert case.cutoff is None, "what is over is no cut-off ahead"
    else:
        assert (case.cutoff, case.cutoff_reason) == (at, "then it can't be undone any more")
        assert "then it can't be undone any more" in page


@pytest.mark.parametrize(
    ("until", "zone"),
    [
        ("9999-12-31T23:59:59-05:00", "UTC"),
        ("9999-12-31T23:59:59+00:00", "Asia/Hong_Kong"),
        ("0001-01-01T00:00:00+05:00", "UTC"),
        ("0001-01-01T00:00:00+00:00", "America/New_York"),
    ],
)
def test_a_moment_at_the_end_of_time_breaks_every_page_that_tells_it(
    stuck: Make, repairer: User, client: Client, until: str, zone: str
) -> None:
    """As programs say "for ever"; the database keeps the year 10000, and nobody reads its row again."""
    case = stuck(undo={"window_until": f"${{ '{until}' }}"})
    Person.objects.update_or_create(user=repairer, defaults={"zone": zone})
    for page in ("/", "/repairs/", f"/repairs/{case.number}/", f"/runs/{case.run_id}/"):
        assert client.get(page).status_code == 200, page
    assert (case.cutoff is None) is until.startswith("0001")


def test_when_it_hurts_the_customer_is_no_cut_off_or_one_that_nobody_sees(stuck: Make, repairer: User) -> None:
    first, second = stuck(), stuck()
    hurts.hurts(second.id, by=repairer, at="30m", why="they stand at the desk")
    case, at = now_of(second), rows.now()
    assert case.hurts_at is not None
    assert (case.cutoff, case.cutoff_reason) == (case.hurts_at, "then it hurts the customer, as a person said")
    assert case.deadline <= case.hurts_at, "what is due stays due after it is too late"
    order = worklist.harm_first(Case.objects.all(), at).order_by(*worklist.ORDER)
    assert [one.id for one in order] == [second.id, first.id]
    assert worklist.why_here(case, at).startswith("Cut-off in 29 min: then it hurts the customer")
    assert worklist.counts(Case.objects.all(), at, repairer.pk)["near"] == 1
    hurts.hurts(second.id, by=repairer, at="", why="they found another way")
    assert (now_of(second).cutoff, now_of(second).hurts_at) == (None, None)
    assert list(Act.objects.filter(kind="hurts").order_by("id").values_list("why", flat=True)) == [
        "they stand at the desk", "they found another way",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("at", "why", "flaw"),
    [
        ("", "soon", "is empty"),
        ("soon", "they say", "must be a length"),
        ("2020-01-01T00:00Z", "they say", "must be after"),
        ("91d", "they say", "within 90 days"),
        ("2h", " ", "Say why"),
    ],
)
def test_a_moment_of_harm_is_none_or_has_no_reason(
    stuck: Make, repairer: User, client: Client, at: str, why: str, flaw: str
) -> None:
    case = stuck()
    with pytest.raises(Invalid) as refused:
        hurts.hurts(case.id, by=repairer, at=at, why=why)
    assert flaw in str(refused.value)
    page = client.post(f"/repairs/{case.number}/hurts", {"at": at, "why": why})
    assert page.status_code == 400
    assert f'name="at" id="hurts-at" maxlength="40" value="{at}"' in page.content.decode()
    assert not Act.objects.exists()


def test_who_does_not_repair_or_comes_late_sets_a_moment(stuck: Make, repairer: User, person: Make) -> None:
    case = stuck()
    with pytest.raises(Denied):
        hurts.hurts(case.id, by=person("reader", "manager"), at="2h", why="they say")
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now())
    with pytest.raises(StaleFence, match="resolved by now"):
        hurts.hurts(case.id, by=repairer, at="2h", why="they say")


def test_a_case_set_aside_until_after_it_hurts(stuck: Make, repairer: User) -> None:
    case = stuck()
    hurts.hurts(case.id, by=repairer, at="1h", why="they stand at the desk")
    with pytest.raises(Invalid, match="too late"):
        snooze.snooze(case.id, by=repairer, why="x y", cause="other", until="2h", fence=now_of(case).fence)


def test_a_case_page_counts_down_what_is_over_or_keeps_silent_about_a_key(
    stuck: Make, client: Client, world: World
) -> None:
    case = stuck()
    page = unescape(client.get(f"/repairs/{case.number}/").content.decode())
    assert "it is to be put right" in page
    Case.objects.filter(id=case.id).update(deadline=rows.now() - HOUR)
    page = unescape(client.get(f"/repairs/{case.number}/").content.decode())
    assert "1:00 over" in page
    assert "it should have been put right" in page
