"""The task that carries batches out: stopped, killed, at once with another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import InterfaceError, connection
from django_q.models import OrmQ

from repairs.acts import bulk
from repairs.bulk import acting, running
from repairs.models import Act, Batch, BatchItem
from tests.repairs.batches.making import Killed, asked, of_cause, states
from workflows.errors import Denied

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_stopped_batch_does_nothing_more_and_goes_on_where_it_was(many: Make, repairer: User, person: Make) -> None:
    many(3)
    batch = of_cause(repairer)
    asked(batch, repairer)
    assert running.one()
    bulk.stop(batch.id, by=person("night desk", "repairer"))
    running.run()
    assert states(batch) == {"done": 1, "waiting": 2}
    with pytest.raises(Denied):
        bulk.resume(batch.id, by=User.objects.get(username="night desk"))
    bulk.resume(batch.id, by=repairer)
    running.run()
    assert states(batch) == {"done": 3}
    assert Act.objects.filter(kind="look_again").count() == 3


def test_when_a_stop_has_returned_no_case_is_acted_on_any_more(
    many: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(2)
    batch = of_cause(repairer)
    asked(batch, repairer)
    inside, go, order = threading.Event(), threading.Event(), []
    real = acting.act

    def slow(*args: Any) -> Any:
        inside.set()
        go.wait(10)
        order.append("acted")
        return real(*args)

    monkeypatch.setattr(running, "act", slow)

    def work() -> None:
        try:
            running.one()
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert inside.wait(10)

    def stop() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('application_name', 'stopper', false)")
            bulk.stop(batch.id, by=repairer)
            order.append("stopped")
        finally:
            connection.close()

    stopper = threading.Thread(target=stop)
    stopper.start()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'stopper' AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        for _ in range(100_000):
            cursor.execute(waits)
            if cursor.fetchone()[0] or order:
                break
    go.set()
    worker.join()
    stopper.join()
    assert order == ["acted", "stopped"]
    assert states(batch) == {"done": 1, "waiting": 1}


def test_a_batch_whose_worker_was_killed_goes_on_and_does_no_case_twice(
    many: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(3)
    batch = of_cause(repairer)
    asked(batch, repairer)
    real = acting.act

    def act(of: Batch, item: BatchItem) -> Any:
        done = real(of, item)
        if states(of)["done"] == 1:
            connection.connection.close()  # the server undoes what wasn't committed, as when a worker dies
            raise Killed
        return done

    monkeypatch.setattr(running, "act", act)
    with pytest.raises((Killed, InterfaceError)):
        running.run()
    connection.close()
    monkeypatch.undo()
    assert states(batch) == {"done": 1, "waiting": 2}
    OrmQ.objects.all().delete()
    running.sweep()
    assert OrmQ.objects.count() == 1, "the sweep rings for what no task is at"
    running.run()
    assert states(batch) == {"done": 3}
    assert Act.objects.filter(kind="look_again").count() == 3
    assert Batch.objects.get(id=batch.id).state == "done"
