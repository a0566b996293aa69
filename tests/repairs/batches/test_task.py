"""When a task of batches ends, and what it leaves to the next: a stop of the program, its time, an outage, a lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django_q.models import OrmQ

from config.house import stopping
from repairs.acts.bulk import TASK
from repairs.bulk import running
from repairs.models import Act, Batch, BatchItem
from tests.repairs.batches.making import asked, of_cause, states

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def two(many: Make, repairer: User) -> Batch:
    many(2)
    return asked(of_cause(repairer), repairer)


def rung() -> int:
    return sum(q.func() == TASK for q in OrmQ.objects.all())


def test_a_program_that_is_being_stopped_goes_on_to_the_next_case(two: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "asked", lambda: True)
    before = rung()
    running.run()
    assert (states(two), rung()) == ({"done": 1, "waiting": 1}, before), "the sweep goes on with it"


def test_a_task_works_on_for_ever_or_leaves_the_rest_to_nobody(two: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "WORK_FOR", -1.0)
    before = rung()
    running.run()
    assert (states(two), rung()) == ({"done": 1, "waiting": 1}, before + 1)


def test_an_outage_is_told_as_a_bug_at_each_case(two: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> Any:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(running, "act", gone)
    with pytest.raises(OperationalError):
        running.run()
    assert states(two) == {"waiting": 2}
    assert set(two.items.values_list("tries", flat=True)) == {0}, "an outage is taken for the case's"


def test_a_worker_waits_for_the_case_that_another_is_at(two: Batch) -> None:
    def work() -> None:
        try:
            running.one()
        finally:
            connection.close()

    with transaction.atomic():
        list(BatchItem.objects.filter(batch=two).order_by("id").select_for_update()[:1])
        other = threading.Thread(target=work)
        other.start()
        other.join(timeout=20)
        waits = other.is_alive()
    other.join()
    assert not waits
    assert [item.state for item in two.items.order_by("id")] == ["waiting", "done"]


def test_a_case_that_another_worker_met_meanwhile_is_met_twice(two: Batch) -> None:
    item = two.items.earliest("id")
    for _ in range(2):
        running.meet(item.id)
    assert states(two) == {"done": 1, "waiting": 1}
    assert Act.objects.filter(case=item.case_id, kind="look_again").count() == 1
