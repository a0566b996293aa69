"""A worker killed with SIGKILL around the call of a remedy: what a person asked for once is made once."""

from __future__ import annotations

import pytest

from tests.crash import stage
from tests.world.provider import Provider
from workflows import reading
from workflows.engine.recover import recover
from workflows.engine.remedy import RemedyBody, remedy
from workflows.models import Attempt, Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("point", ["after_intent", "after_call"])
def test_a_remedy_whose_worker_was_killed_there_is_made_once(point: str, outside: Provider) -> None:
    stage.apply()
    run = stage.start(["seen"])["seen"]
    stage.settle()
    assert Run.objects.get(id=run.id).phase == "over"
    body = RemedyBody(tool="t.seen", arguments={"email": "sorry@acme.example"})
    made = remedy(run.id, body, by="person:night-desk", why="it was never told")[0]
    with stage.worker(point, 1) as process:
        stage.reached(process)
        process.kill()
        process.wait()
    assert Attempt.objects.filter(effect=made).count() == 1, "its intent is kept"
    recover(dead_holders=True)
    assert [case["state"] for case in reading.cases_of([run.id])[run.id]] == ["open"], "it isn't with anybody"
    stage.settle()
    effect = Effect.objects.get(id=made.id)
    assert (effect.state, effect.world) == ("verified", "present")
    assert [thing.reference for thing in outside.objects("seen")].count(made.key) == 1
    run = Run.objects.get(id=run.id)
    assert (run.phase, run.state) == ("over", "repaired")
    assert [case["state"] for case in reading.cases_of([run.id])[run.id]] == ["resolved"]
