"""A worker that is stopped with SIGSTOP past its lease, and continued when others have long gone on."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.crash import stage
from tests.world.provider import Provider
from workflows.engine.recover import recover
from workflows.models import Attempt, Effect, Entry
from workflows.states import EffectState

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = "0.5"  # seconds that a lease lasts beyond a call's timeout, instead of 20


def sleep_past_its_lease(process: subprocess.Popen[str], number: int) -> None:
    """Others find the leases over and go on to the end."""
    process.send_signal(signal.SIGSTOP)
    lost = set()

    def all_lost() -> bool:
        lost.update(recover())
        return len(lost) == number

    stage.until(all_lost, "the leases never ended")
    stage.settle()


def wake(process: subprocess.Popen[str]) -> None:
    """Continues it, and waits until it has recorded what it brings and ended."""
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=stage.PATIENCE) == 0


def stories() -> list[tuple[str, str]]:
    """What moved effects, in order; notes move nothing."""
    return list(
        Entry.objects.filter(subject_kind="effect").exclude(event="note").order_by("id").values_list("event", "after")
    )


def test_an_answer_that_a_sleeping_worker_brings_late_changes_nothing_and_is_kept(outside: Provider) -> None:
    stage.apply(timeout="1s")
    runs = stage.start(["seen", "keyless"])
    gate = outside.hold("/", where="booked", times=len(runs))
    with stage.worker("in_call", len(runs), SHORT) as process:
        assert gate.arrived(calls=len(runs), timeout=stage.PATIENCE)
        sleep_past_its_lease(process, len(runs))
        before = stories()
        ends = {name: stage.told(run, outside) for name, run in runs.items()}
        assert ends == {"seen": ("verified present", 1, 0), "keyless": ("verified present", 1, 0)}
        gate.release()
        wake(process)
    assert (stories(), len(outside.wire("POST"))) == (before, len(runs))
    assert set(Attempt.objects.values_list("stale", flat=True)) == {True}
    assert {name: stage.told(run, outside) for name, run in runs.items()} == ends


def test_a_call_that_a_sleeping_worker_makes_late_makes_nothing_twice(outside: Provider) -> None:
    """It wakes past its last check, and calls. Who honours the key answers as before; with who doesn't, others had not
    sent again, so it is the only one, and the person who looks after it is told."""
    stage.apply(timeout="1s")
    runs = stage.start(["seen", "keyless"])
    with stage.worker("at_the_wire", len(runs), SHORT) as process:
        stage.reached(process)
        sleep_past_its_lease(process, len(runs))
        ends = {name: stage.told(run, outside) for name, run in runs.items()}
        assert ends == {"seen": ("verified present", 1, 0), "keyless": ("stuck unknown", 0, 1)}
        before = stories()
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        wake(process)
    stage.settle()
    ends = {name: stage.told(run, outside) for name, run in runs.items()}
    assert ends == {"seen": ("verified present", 1, 0), "keyless": ("stuck unknown", 1, 1)}
    assert stories() == before
    effect = Effect.objects.get(run=runs["keyless"], state=EffectState.STUCK)
    assert "a late yes came" in effect.detail
    assert effect.external_ref or effect.result, "what the provider called it is kept"
    late = Attempt.objects.filter(stale=True, outcome="acknowledged")
    assert {attempt.effect.run_id for attempt in late} == {run.id for run in runs.values()}
