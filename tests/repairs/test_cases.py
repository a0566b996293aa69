"""A stuck run has one case, which says what the run says, for as long as it needs a person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from repairs import cases
from repairs.models import Act, Case
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import people
from workflows.models import Effect, Entry, Run
from workflows.signals import cases_of_runs

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_stuck_run_opens_one_case_that_says_the_harm_the_owner_and_the_deadline(stuck: Make) -> None:
    case = stuck()
    assert case.state == "open"
    assert case.sentence == (
        f"{case.run.subject_label}: a contact record stands in the CRM, although it should be gone;"
        " the provider refused for good to undo it."
    )
    assert (case.owner, case.harm, case.customers) == ("sim-desk", "stands", 1)
    assert case.deadline - case.opened_at == dt.timedelta(hours=24)
    assert case.number > 1000
    entries = Entry.objects.filter(subject_id=case.id)
    assert [(e.subject_kind, e.event, e.after) for e in entries] == [("case", "open", "open")]
    assert (case.seq, case.head) == (1, entries[0].hash)


def test_a_case_is_written_in_the_transaction_that_makes_its_run_stuck(
    stuck: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "follow", lambda runs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stuck()
    assert not Run.objects.filter(needs_person=True).exists(), "a run is stuck, and nobody was told"


def test_a_run_can_have_no_second_open_case(stuck: Make) -> None:
    case = stuck()
    twin = Case(
        run=case.run, agent=case.agent, sentence="x", harm="held", rank=1, owner="x", deadline=case.deadline,
        opened_at=case.opened_at, changed_at=case.changed_at,
    )  # fmt: skip
    with pytest.raises(IntegrityError, match="one_open_case_per_run"), transaction.atomic():
        twin.save(force_insert=True)


def test_a_case_is_resolved_when_its_run_needs_nobody_any_more(stuck: Make, world: World) -> None:
    case = stuck()
    effect = Effect.objects.get(state="stuck")
    world.things.clear()  # somebody removed it by hand
    people.look_again(effect.id, by="person:x", why="removed by hand")
    drain_once()
    case = Case.objects.get(id=case.id)
    assert case.state == "resolved"
    assert case.closed_at is not None
    assert again(case.run).state == "compensated"


def test_a_case_is_written_off_when_its_effect_is(stuck: Make) -> None:
    case = stuck()
    people.write_off(Effect.objects.get(state="stuck").id, by="person:x", why="the customer keeps it")
    drain_once()
    case = Case.objects.get(id=case.id)
    assert case.state == "written_off"
    assert again(case.run).state == "written_off"


def test_the_same_case_opens_again_when_the_world_proves_otherwise(stuck: Make) -> None:
    case = stuck()
    run = again(case.run)
    run.needs_person, reasons = False, run.people_reasons
    with transaction.atomic():
        cases.follow([run])
    assert Case.objects.get(id=case.id).state == "resolved"
    run.needs_person, run.people_reasons = True, reasons
    with transaction.atomic():
        cases.follow([run])
    case = Case.objects.get(run=run)
    assert (case.state, case.reopened, case.closed_at) == ("open", 1, None)
    events = Entry.objects.filter(subject_id=case.id).values_list("event", flat=True)
    assert list(events) == ["open", "resolve", "reopen"]


def test_following_many_runs_takes_as_many_statements_as_following_one(stuck: Make) -> None:
    runs = [again(stuck().run) for _ in range(4)]

    def statements(some: list[Run]) -> int:
        for run in some:
            run.people_reasons = [{**reason, "detail": "new"} for reason in run.people_reasons]
        with (
            CaptureQueriesContext(
                connection,
            ) as seen,
            transaction.atomic(),
        ):
            cases.follow(some)
        return len(seen)

    assert statements(runs[:1]) == statements(runs[1:])


def test_the_api_is_given_the_cases_of_many_runs_in_one_query(stuck: Make) -> None:
    case = stuck()
    other = stuck()
    with CaptureQueriesContext(connection) as seen:
        answers: Any = cases_of_runs.send(sender=Run, run_ids=[case.run_id, other.run_id])
    [(_, found)] = answers
    assert len(seen) == 1
    assert found[case.run_id] == [
        {
            "id": str(case.id), "state": "open", "sentence": case.sentence, "owner": "sim-desk",
            "deadline": case.deadline, "url": f"/repairs/{case.number}/",
        }
    ]  # fmt: skip
    assert set(found) == {case.run_id, other.run_id}


@pytest.mark.parametrize(
    "statement", ["UPDATE repairs_act SET why = 'x'", "DELETE FROM repairs_act", "DELETE FROM repairs_case"]
)
def test_the_database_refuses_to_change_or_lose_what_people_did(stuck: Make, person: Make, statement: str) -> None:
    case = stuck()
    Act.objects.create(case=case, kind="claim", by=person("repairer"), outcome="done", at=case.opened_at)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
