"""Setting a case aside: with a reason from a list, until a time, and never beyond what would be too late."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from repairs import cases, worklist
from repairs.acts import claim, escalate, snooze
from repairs.models import Act, Case
from tests.repairs.previews import proposed
from workflows import rows, tasks
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HOUR = dt.timedelta(hours=1)


def now_of(case: Case) -> Case:
    return Case.objects.get(id=case.id)


def set_aside(case: Case, by: User, until: str = "2h", cause: str = "customer") -> None:
    snooze.snooze(case.id, by=by, why="they call back", cause=cause, until=until, fence=now_of(case).fence)


def over(*aside: Case) -> None:
    """As if the time were over."""
    Case.objects.filter(id__in=[case.id for case in aside]).update(snoozed_until=rows.now())


def test_a_case_that_is_set_aside_stays_in_somebodys_hands_or_before_what_can_be_worked_on(
    stuck: Make, repairer: User
) -> None:
    first, second = stuck(), stuck()
    claim.claim(first.id, by=repairer)
    set_aside(first, repairer)
    case, at = now_of(first), rows.now()
    assert (case.state, case.claimed_by, case.deadline) == ("waiting", None, first.deadline)
    order = worklist.harm_first(Case.objects.all(), at).order_by(*worklist.ORDER)
    assert [one.number for one in order] == [second.number, first.number]
    assert worklist.why_here(case, at).startswith("Waits for the customer's answer, until ")
    counts = worklist.counts(Case.objects.all(), at, repairer.pk)
    assert (counts["snoozed"], counts["waiting"], counts["all"]) == (1, 0, 2)
    act = Act.objects.get(kind="snooze")
    assert (act.why, act.facts["cause"]) == ("they call back", "customer")
    assert [e.event for e in Entry.objects.filter(subject_id=case.id).order_by("seq")] == [
        "open", "claim", "snooze", "wait",
    ]  # fmt: skip


def test_a_case_sleeps_past_its_time(stuck: Make, repairer: User) -> None:
    case = stuck()
    set_aside(case, repairer)
    tasks.sweep()
    assert now_of(case).snoozed_until, "its time has not come"
    over(case)
    tasks.sweep()
    assert (now_of(case).state, now_of(case).snoozed_until) == ("open", None)
    assert Entry.objects.filter(subject_id=case.id).order_by("-seq")[0].actor == "engine"


def test_waking_many_takes_more_statements_than_waking_one(stuck: Make, repairer: User) -> None:
    def taken(number: int) -> int:
        aside = [stuck() for _ in range(number)]
        for case in aside:
            set_aside(case, repairer)
        over(*aside)
        with CaptureQueriesContext(connection) as seen:
            assert snooze.wake_due() == number
        return len(seen)

    assert taken(1) == taken(4)


def test_a_case_sleeps_on_although_what_is_true_changed_or_wakes_although_nothing_did(
    stuck: Make, repairer: User
) -> None:
    case = stuck()
    set_aside(case, repairer)
    run = Run.objects.select_related("workflow").get(id=case.run_id)
    with transaction.atomic():
        cases.follow([run])
    assert now_of(case).snoozed_until, "nothing changed"
    run.people_reasons = [{**run.people_reasons[0], "detail": "the provider says something else"}]
    with transaction.atomic():
        cases.follow([run])
    assert (now_of(case).state, now_of(case).snoozed_until) == ("open", None)


@pytest.mark.parametrize(
    ("until", "cause", "flaw"),
    [
        ("", "customer", "is empty"),
        ("soon", "customer", "must be a length"),
        ("2020-01-01T00:00Z", "customer", "must be after"),
        ("15d", "customer", "within 14 days"),
        ("4h", "customer", "must be before"),  # the cut-off is in three
        ("2h", "", "none of customer"),
        ("2h", "bored", "none of customer"),
    ],
)
def test_a_case_is_set_aside_for_no_reason_or_until_no_time(
    stuck: Make, repairer: User, until: str, cause: str, flaw: str
) -> None:
    case = stuck()
    Case.objects.filter(id=case.id).update(cutoff=rows.now() + 3 * HOUR)
    with pytest.raises(Invalid) as refused:
        set_aside(case, repairer, until, cause)
    assert flaw in str(refused.value)
    assert not Act.objects.exists()


def test_what_waits_for_a_second_person_or_is_held_by_another_is_set_aside(
    stuck: Make, repairer: User, person: Make
) -> None:
    case, other = stuck(), person("night-desk", "repairer")
    with pytest.raises(Denied):
        set_aside(case, person("reader", "manager"))
    claim.claim(case.id, by=other)
    with pytest.raises(StaleFence, match="night-desk holds"):
        set_aside(case, repairer)
    proposed(case, other)
    with pytest.raises(StaleFence, match="second person"):
        set_aside(case, other)


def test_who_takes_a_case_up_finds_it_asleep(stuck: Make, repairer: User) -> None:
    first, second = stuck(), stuck()
    for case in (first, second):
        set_aside(case, repairer)
    claim.claim(first.id, by=repairer)
    snooze.wake(second.id, by=repairer)
    snooze.wake(second.id, by=repairer)
    assert [(now_of(one).state, now_of(one).snoozed_until) for one in (first, second)] == [("open", None)] * 2
    assert Act.objects.filter(kind="wake").count() == 1, "who comes second wakes nobody"


def test_the_page_forgets_what_was_typed_or_does_not_say_until_when(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    form = {"cause": "provider", "until": "some day", "why": "typed with care", "fence": case.fence}
    refused = client.post(f"/repairs/{case.number}/snooze", form)
    page = refused.content.decode()
    assert refused.status_code == 400
    assert "until: must be a length" in page
    assert all(text in page for text in ("<details open>", 'value="some day"', "typed with care"))
    assert '<option value="provider" selected>' in page
    done = client.post(f"/repairs/{case.number}/snooze", {**form, "until": "2h"}, follow=True)
    assert "Set aside until" in done.content.decode()
    assert "Waits for the provider, until" in client.get("/repairs/?view=snoozed").content.decode()
    assert "is awake" in client.post(f"/repairs/{case.number}/wake", follow=True).content.decode()


def test_a_promise_waits_although_it_is_ours_to_keep_or_runs_out_while_the_customer_is_silent(
    stuck: Make, repairer: User
) -> None:
    """Only the customer's own silence stops a case's time; then it is as far from its deadline afterwards as before."""
    ours, theirs = stuck(), stuck()
    for case, cause in ((ours, "provider"), (theirs, "customer")):
        set_aside(case, repairer, "1h", cause)
    assert (now_of(ours).paused_since, now_of(theirs).paused_since is None) == (None, False)
    went = dt.timedelta(hours=30)  # as if it had been so for longer than there is time for it
    moved = {"opened_at": F("opened_at") - went, "deadline": F("deadline") - went}
    Case.objects.filter(id__in=[ours.id, theirs.id]).update(**moved)
    Case.objects.filter(id=theirs.id).update(paused_since=F("paused_since") - went)
    at = rows.now()
    late = worklist.view_of("late")
    assert late is not None
    assert list(Case.objects.filter(late.chosen(at, repairer.pk))) == [ours]
    assert now_of(theirs).due_at(at) - at == pytest.approx(theirs.deadline - theirs.opened_at, abs=HOUR / 60)
    assert escalate.sweep_times() == 1, "nobody is asked for help while the customer is waited for"
    snooze.wake(theirs.id, by=repairer)
    awake = now_of(theirs)
    assert (awake.paused_since, awake.paused >= went) == (None, True)
    assert awake.deadline > rows.now()
    assert escalate.sweep_times() == 0, "of its own time hardly any has passed"


def test_time_that_stood_still_lasts_beyond_what_would_be_too_late_or_is_told_nowhere(
    stuck: Make, repairer: User, browse: Make
) -> None:
    case, client = stuck(), browse(repairer)
    set_aside(case, repairer, "1h", "customer")
    cutoff = rows.now() + 2 * HOUR
    Case.objects.filter(id=case.id).update(cutoff=cutoff, paused_since=rows.now() - 50 * HOUR)
    page = client.get(f"/repairs/{case.number}/").content.decode()
    assert "its time stands still while the customer is waited for; it stood still for 50:00 h so far" in page
    assert "stands still" in client.get("/repairs/?view=customer").content.decode()
    claim.claim(case.id, by=repairer)
    assert now_of(case).deadline == cutoff
    assert "it stood still for 50:00 h so far" in client.get(f"/repairs/{case.number}/").content.decode()
