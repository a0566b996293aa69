"""C48: a cancel stops what has not left, wherever it is; what has left is waited for, looked at and undone."""

from __future__ import annotations

import pytest

from tests.property.schedules import looked, sent, tool, went
from tests.property.stage import Stage
from workflows.models import Attempt, Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.declare(tool())
    stage.start()
    return stage.runs[0]


def ended(stage: Stage, run: Run) -> tuple[str, int]:
    """(its state in the end, bookings that were ever made)."""
    stage.settle()
    return Run.objects.get(id=run.id).state, len(stage.outside.made)


def test_a_cancelled_before_its_intent_it_is_never_sent(stage: Stage, run: Run) -> None:
    stage.advance()
    stage.cancel()
    sent(stage)
    assert ended(stage, run) == ("cancelled", 0)
    assert not Attempt.objects.exists()


def test_b_cancelled_between_intent_and_send_it_goes_back_as_not_sent(stage: Stage, run: Run) -> None:
    stage.advance()
    stage.dispatch()
    stage.cancel()
    stage.begin()
    assert stage.outside.inside == {}
    stage.record()
    assert ended(stage, run) == ("cancelled", 0)
    assert Attempt.objects.get().outcome == "not_sent"


@pytest.mark.parametrize("word", ["well", "lost_after"])
def test_c_cancelled_during_its_answer_it_is_waited_for_and_looked_at_and_undone(
    stage: Stage, run: Run, word: str
) -> None:
    sent(stage)
    stage.cancel()
    sent(stage, worker=1)
    during = Run.objects.get(id=run.id)
    assert (during.phase, Effect.objects.get().state) == ("unwinding", "dispatched"), "one in flight, and no second"
    went(stage, word)
    looked(stage)
    assert ended(stage, run) == ("compensated", 1)
    assert Effect.objects.get(kind="forward").world == "gone"
    assert len(stage.outside.removed) == 1


def test_d_cancelled_while_it_waits_to_be_tried_again_it_is_not_tried_again(stage: Stage, run: Run) -> None:
    sent(stage)
    went(stage, "temporary")
    stage.cancel()
    stage.step(10)
    sent(stage)
    assert ended(stage, run) == ("cancelled", 0)
    assert Attempt.objects.count() == 1
