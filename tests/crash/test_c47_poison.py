"""C47: work that ends its worker is kept away from workers after a few times, by a count that outlives them."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests.crash import stage
from tests.crash.nursery import Nursery, nursery
from tests.engine import simulated
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import reading, rows
from workflows.drain import Drain, drain_once
from workflows.engine import call, dispatch, look, people, record
from workflows.engine.advance import advance
from workflows.engine.parts import suspects
from workflows.engine.recover import recover
from workflows.holders import place
from workflows.models import Attempt, Effect, Tool
from workflows.policies import poison
from workflows.states import LOOKED_AT, EffectState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HOUR = dt.timedelta(hours=1)


@pytest.fixture(scope="module")
def workers(django_db_setup: None) -> Iterator[Nursery]:
    with nursery(stage.url()) as born:
        yield born


def declare(name: str, kind: str, **options: Any) -> Tool:
    spec = {**simulated.spec(**options), "class": f"tests.crash.deadly.{kind}"}
    return Tool.objects.create(name=name, version=1, kind="python", digest="", spec=spec, owner="sim-desk")


@pytest.mark.parametrize(("kind", "sends"), [("DeadlySend", poison.TOO_OFTEN), ("DeadlyLook", 1)])
def test_work_that_ends_its_worker_goes_to_a_person_and_all_other_work_goes_on(
    kind: str, sends: int, workers: Nursery, workflow: Make, begin: Make, tool: Make
) -> None:
    declare("t.deadly", kind)
    declare("t.lasting", "Lasting")
    run = begin(workflow("t.deadly"))
    others = [begin(workflow("t.lasting")) for _ in range(3)]
    lives: list[int] = []
    while not lives or lives[-1]:
        lives.append(workers.worker())
    assert lives == [1] * poison.TOO_OFTEN + [0], "it killed more workers than it may"
    assert states(again(run)) == {"deadly forward": "stuck unknown"}
    assert {again(other).state for other in others} == {"completed"}
    [reason] = again(run).people_reasons
    assert (reason["code"], "3 times in a row" in reason["detail"]) == ("poison", True)
    [case] = reading.cases_of([run.id])[run.id]
    assert (case["owner"], case["deadline"] is not None) == ("sim-desk", True)
    assert Attempt.objects.filter(effect__run=run).count() == sends
    people.look_again(Effect.objects.get(run=run).id, by="person:tester", why="it was repaired")
    assert (Effect.objects.get(run=run).unanswered, Effect.objects.get(run=run).unseen) == (0, 0)


def test_an_answer_too_deep_to_be_read_ends_no_worker(world: World, workflow: Make, begin: Make) -> None:
    declare("t.deep", "Bottomless", verify=False, keyed=False)
    run = begin(workflow("t.deep"))
    drain_once()
    assert states(again(run)) == {"deep forward": "stuck unknown"}
    assert "RecursionError" in Attempt.objects.get().evidence["traceback"]


def test_of_those_whose_worker_was_lost_one_goes_at_a_time(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Whoever is under way beside the one that kills would be lost with it every time, and be taken for it."""
    tool("t.a")
    runs = [begin(workflow("t.a")) for _ in range(3)]
    advance()
    assert len(dispatch.dispatch(8)) == 3
    Effect.objects.update(lease_until=rows.now() - HOUR)
    recover()
    drain = Drain(slots=8)
    while Effect.objects.filter(state="ready").count() < 3:
        drain._look()
        drain._record(claim=False)
        drain.wait(0.01)
    advance()
    Effect.objects.update(due_at=rows.now())
    [first] = dispatch.dispatch(8)
    assert (first.unanswered, Effect.objects.filter(state="ready", due_at__gt=rows.now() - HOUR).count()) == (2, 2)
    Effect.objects.filter(state="ready").update(due_at=rows.now())
    assert dispatch.dispatch(8) == [], "the first is still under way"
    Effect.objects.filter(id=first.id).update(lease_until=rows.now() - HOUR)
    drain.until_idle()
    drain.close()
    assert {again(run).state for run in runs} == {"completed"}
    assert set(Effect.objects.values_list("unanswered", flat=True)) <= {0, 2}


@pytest.mark.parametrize("state", sorted(LOOKED_AT))
def test_beside_a_suspect_that_one_process_looks_at_it_looks_at_another(
    world: World, tool: Make, workflow: Make, run_through: Make, state: EffectState
) -> None:
    """If it dies it must be known of which; whatever the state in which looks are made."""
    tool("t.a")
    flow = workflow("t.a")
    first, second = (Effect.objects.get(run=run_through(flow)) for _ in range(2))
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(UNDER_WAY, [state.value, "nothing" if state in UNDONE_NOTHING else "present", first.id])
        cursor.execute("SET session_replication_role = DEFAULT")
    second.unseen = 1
    now = rows.now()
    assert suspects.to_look_at([second], "here", now) == []
    assert suspects.to_look_at([second], "elsewhere", now) == [second]


UNDONE_NOTHING = ("failed", "cancelled")
UNDER_WAY = """
UPDATE workflows_effect SET state = %s, world = %s, unseen = 2, due_at = now() + interval '1 hour', holder = 'here'
WHERE id = %s
"""


def test_a_look_whose_worker_died_is_made_by_another_at_once(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    [effect] = dispatch.dispatch(1)
    with ThreadPoolExecutor(1) as pool:
        [(_, future)] = call.begin([effect], pool, effect.sending.started_at)
        mine = record.record([(effect, future.result())], looks=1)
    assert (len(mine), look.claim(1)) == (1, []), "it is looked at"
    assert recover(dead_holders=True) == set(), "by one who lives"
    Effect.objects.update(holder=f"{place()}:{os.getpid()}:1")  # who had this number before
    assert recover(dead_holders=True) == {effect.id}
    drain_once()
    assert states(again(run)) == {"a forward": "verified present"}
