"""C42: a worker that acts after it lost its lease changes nothing, and what it brings is kept."""

from __future__ import annotations

import pytest

from tests.property.schedules import check, looked, sent, tool, went
from tests.property.stage import LEASE, Stage
from workflows.models import Attempt, Effect

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_workers_and_one_that_slept_in_the_call_make_one_object_and_both_sends_are_told(stage: Stage) -> None:
    stage.declare(tool())
    stage.start()
    sent(stage, worker=0)
    stage.step(LEASE + 2)
    stage.sweep()
    looked(stage, worker=1)
    stage.step(1)
    sent(stage, worker=1)
    went(stage, worker=1)
    went(stage, worker=0)
    looked(stage, worker=1)
    check(stage)
    assert len(stage.outside.made) == 1
    effect = Effect.objects.get()
    assert (effect.state, effect.attempts) == ("verified", 2)
    assert list(Attempt.objects.order_by("id").values_list("outcome", "stale")) == [
        ("acknowledged", True),
        ("acknowledged", False),
    ]


def test_an_answer_recorded_after_the_lease_counts_while_nobody_has_taken_over(stage: Stage) -> None:
    """The database was away for longer than the lease, for the sweep too."""
    stage.declare(tool())
    stage.start()
    sent(stage)
    stage.answer()
    stage.step(LEASE + 2)
    stage.record()
    stage.sweep()
    looked(stage)
    assert Effect.objects.get().state == "verified"
    assert Attempt.objects.get().stale is False


def test_who_finds_its_lease_gone_before_the_wire_sends_nothing(stage: Stage) -> None:
    stage.declare(tool())
    stage.start()
    stage.advance()
    stage.dispatch(worker=0)
    stage.step(LEASE + 2)
    stage.sweep()
    stage.begin(worker=0)
    stage.record(worker=0)
    assert (stage.outside.made, stage.outside.inside) == ([], {})
    assert Attempt.objects.get().outcome == "not_sent"
    assert Effect.objects.get().state == "unknown", "what it says proves nothing of it now"
    looked(stage, worker=1)
    stage.step(1)
    sent(stage, worker=1)
    went(stage, worker=1)
    looked(stage, worker=1)
    assert (Effect.objects.get().state, len(stage.outside.made)) == ("verified", 1)
