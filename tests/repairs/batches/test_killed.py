"""A batch that sends, the process of its task killed with SIGKILL: nothing leaves twice, and the sweep has it go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django_q.models import OrmQ

from repairs.bulk import running
from repairs.models import Act
from repairs.models.batch import BatchAct
from tests.crash import stage
from tests.engine.simulated import World
from tests.repairs.batches.making import HELD, confirmed, figures, of_cause, states
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid != "
)


def test_a_batch_whose_task_was_killed_sends_twice_or_leaves_the_rest(
    held: Make, repairer: User, second: User, world: World
) -> None:
    held(3)
    batch, before = of_cause(repairer, BatchAct.TURN_BACK, HELD), len(world.sends)
    confirmed(batch, repairer, second)
    with stage.process_of("tests.repairs.batches.mortal") as process:
        stage.reached(process)
        process.kill()
        assert process.wait() == -9
    stage.until(nobody_else, "what the dead process held is never let go")
    assert states(batch) == {"done": 1, "waiting": 2}
    tries = batch.items.filter(state="waiting").order_by("id").values_list("tries", flat=True)
    assert list(tries) == [1, 0], "who dies of a case forgets that it was handed over"
    drain_once()
    assert len(world.sends) == before + 2, "what was asked for stays asked for, and no more"
    OrmQ.objects.all().delete()
    running.sweep()
    assert OrmQ.objects.count() == 1, "no task is at it, and nobody rings"
    running.run()
    drain_once()
    assert Counter(Counter(key for *_, key in world.sends[before:]).values()) == {1: 6}
    assert Act.objects.filter(kind="turn_back").count() == 3
    assert figures(batch) == {"undone, verified": 3}
    batch.refresh_from_db()
    assert batch.state == "done"


def nobody_else() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"{OTHERS} pg_backend_pid()")
        return bool(cursor.fetchone()[0] == 0)
