"""C46: workers killed with SIGKILL at each point around a call, for each sort of provider."""

from __future__ import annotations

import pytest

from tests.crash import stage
from tests.world.provider import Provider
from workflows.engine.recover import recover
from workflows.models import Attempt, Effect
from workflows.proof import Flaw, verify

pytestmark = pytest.mark.django_db(transaction=True)


DONE = {
    "seen": ("verified present", 1, 0),
    "unseen": ("acknowledged unknown", 1, 0),
    "keyless": ("verified present", 1, 0),
    "blind": ("acknowledged unknown", 1, 0),
}
NOBODY_KNOWS = "stuck unknown"
# At each point: the calls that each provider got before the kill, those that seen, unseen, keyless and blind got in the
# end, and where the ends differ from all being well.
POINTS: dict[str, tuple[int, tuple[int, int, int, int], dict[str, tuple[str, int, int]]]] = {
    "before_intent": (0, (1, 1, 1, 1), {}),
    "after_intent": (0, (1, 1, 0, 0), {"keyless": (NOBODY_KNOWS, 0, 1), "blind": (NOBODY_KNOWS, 0, 1)}),
    "in_call": (1, (1, 2, 1, 1), {"blind": (NOBODY_KNOWS, 1, 1)}),
    "after_call": (1, (1, 2, 1, 1), {"blind": (NOBODY_KNOWS, 1, 1)}),
    "after_outcome": (1, (1, 1, 1, 1), {}),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_there_leaves_each_object_once_or_a_case_that_says_why_nobody_can_know(
    point: str, outside: Provider
) -> None:
    sent, in_the_end, differs = POINTS[point]
    stage.apply()
    runs = stage.start(list(stage.TOOLS))
    gate = outside.hold("/", where="booked", times=len(runs)) if point == "in_call" else None
    with stage.worker(point, len(runs)) as process:
        if gate is None:
            stage.reached(process)
        else:
            assert gate.arrived(calls=len(runs), timeout=stage.PATIENCE)
        process.kill()
        process.wait()
    if gate is not None:
        gate.release()
    assert len(outside.wire("POST")) == sent * len(runs)
    committed = point != "before_intent"
    assert Attempt.objects.count() == committed * len(runs), "an intent is kept from its commit on, and not before"
    lost = recover(dead_holders=True)
    looked_at = 2  # of those that answered: the two that one can look at
    assert len(lost) == {"before_intent": 0, "after_outcome": looked_at}.get(point, len(runs))
    stage.settle()
    assert {name: stage.told(run, outside) for name, run in runs.items()} == {**DONE, **differs}
    stuck = Effect.objects.filter(state="stuck")
    assert set(stuck.values_list("reason", flat=True)) <= {"cannot_know"}
    assert tuple(len(outside.wire("POST", f"/{name}")) for name in stage.TOOLS) == in_the_end
    flaws: list[Flaw] = []
    verify(flaws.append)
    assert flaws == []
