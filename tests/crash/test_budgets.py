"""C58: a worker killed with SIGKILL around its calls: what it had reserved is neither lost nor counted twice."""

from __future__ import annotations

import pytest

from tests.authority.purse import give, taken
from tests.crash import stage
from tests.world.provider import Provider
from workflows.engine.reconcile import reconcile
from workflows.engine.recover import recover
from workflows.engine.start import StartBody, start_run
from workflows.models import Agent, Attempt, Effect

pytestmark = pytest.mark.django_db(transaction=True)
ALLOWED, WANTED = 3, 4

# At each point: how many effects stand in the end.
POINTS = {
    "after_intent": 0,  # they may have been made: no call is left to make them again
    "after_call": 3,
}


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_there_leaves_the_budget_true(point: str, outside: Provider) -> None:
    stands = POINTS[point]
    stage.apply()
    agent = Agent.objects.create(name="crash", tools=["*"], workflows=["*"])
    budget = give("agent:crash", calls=ALLOWED)
    for n in range(WANTED):
        subject, email = {"type": "customer", "id": f"c{n}"}, {"email": f"c{n}@acme.example"}
        body = StartBody(subject=subject, digest=str(n), workflow="seen", input=email)
        start_run(agent, f"key-{n}", body)
    with stage.worker(point, ALLOWED) as process:
        stage.reached(process)
        process.kill()
        process.wait()
    assert taken(budget) == ({}, {"calls": ALLOWED, "effects": ALLOWED})
    recover(dead_holders=True)
    reconcile()
    stage.settle()
    reconcile()
    used, held = taken(budget)
    assert used["calls"] == ALLOWED == Attempt.objects.count()
    assert (len(outside.objects("seen")), used.get("effects", 0)) == (stands, stands)
    assert held == ({"effects": ALLOWED} if stands == 0 else {}), "they wait with what is theirs"
    assert Effect.objects.filter(state="blocked", reason="budget").count() == WANTED - stands
