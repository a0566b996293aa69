"""A batch that sends, with its worker killed or two at it at once: no request leaves a second time."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import InterfaceError, connection

from repairs.bulk import acting, running
from repairs.models import Act, BatchItem
from repairs.models.batch import BatchAct
from tests.engine.simulated import World
from tests.repairs.batches.making import HELD, Killed, asked, confirmed, figures, of_cause, states
from workflows import queue
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def sent(world: World, before: int) -> Counter[str]:
    return Counter(key for _, _, key in world.sends[before:])


def test_a_worker_that_is_killed_between_or_amid_its_cases_sends_one_twice(
    held: Make, repairer: User, second: User, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(3)
    batch, before = of_cause(repairer, BatchAct.TURN_BACK, HELD), len(world.sends)
    confirmed(batch, repairer, second)
    real = acting.act

    def act(of: Any, item: BatchItem) -> Any:
        done = real(of, item)
        if states(of)["done"] == 1:
            connection.connection.close()  # what wasn't committed is undone by the server, as when a worker dies
            raise Killed
        return done

    monkeypatch.setattr(running, "act", act)
    with pytest.raises((Killed, InterfaceError)):
        running.run()
    connection.close()
    monkeypatch.undo()
    assert states(batch) == {"done": 1, "waiting": 2}
    drain_once()
    assert set(sent(world, before).values()) == {1}
    running.run()
    asked(batch, repairer)
    running.run()
    drain_once()
    assert len(sent(world, before)) == 6
    assert set(sent(world, before).values()) == {1}
    assert Act.objects.filter(kind="turn_back").count() == 3
    assert figures(batch) == {"undone, verified": 3}


def test_two_workers_at_one_batch_send_for_one_case_twice(
    held: Make, repairer: User, second: User, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(4)
    batch, before = of_cause(repairer, BatchAct.TURN_BACK, HELD), len(world.sends)
    confirmed(batch, repairer, second)
    both = threading.Barrier(2, timeout=10)
    real = acting.act
    met: list[uuid.UUID] = []

    def act(of: Any, item: BatchItem) -> Any:
        if len(met) < 2:
            met.append(item.id)
            both.wait()  # each has a case in its hands before either acts
        return real(of, item)

    monkeypatch.setattr(running, "act", act)
    monkeypatch.setattr(queue, "later", lambda *_: None)

    def work() -> None:
        try:
            running.run()
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (len(set(met)), states(batch)) == (2, {"done": 4})
    drain_once()
    assert len(sent(world, before)) == 8
    assert set(sent(world, before).values()) == {1}
    assert Act.objects.filter(kind="turn_back").count() == 4
