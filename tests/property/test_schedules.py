"""Random schedules of agents, workers, crashes, late answers, sweeps, cancels, people and clock steps: after each step
the promises hold, and in the end nothing hangs. `python -m benchmarks.schedules` tells thousands of them."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import Phase as Part
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.authority.purse import give
from tests.clock import Clock
from tests.engine.simulated import spec
from tests.property import promises
from tests.property.stage import LEASE, Stage

pytestmark = pytest.mark.django_db(transaction=True)
SCHEDULES = int(os.environ.get("MAKEGOOD_SCHEDULES", "480"))  # of all shares: a minute of processor time on each of two
SEED = int(os.environ.get("MAKEGOOD_SCHEDULES_SEED", "1"))  # the same schedules in every run
SHARES = 8  # tests of their own, so that workers divide them, and none comes near the bound on one test
STEPS = 30

WORDS = st.sampled_from(["well", "well", "well", "lost_after", "lost_before", "temporary", "refused", "not_sent"])
WORKERS = st.integers(0, 1)
LATE = st.sampled_from([0.0, 0.0, 15.0])
DRAWN = st.integers(0, 2)
MOSTLY = st.sampled_from([True, True, True, False])


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    """Of a provider that keeps what it declares."""
    final = draw(st.booleans()) and draw(st.booleans())
    made = spec(
        keyed=draw(st.booleans()),
        verify=draw(st.sampled_from([True, True, True, False])),
        undo=not final and draw(st.sampled_from([True, True, False])),
        late=draw(st.sampled_from([0.0, 0.0, 20.0])),
        scopes=draw(st.sampled_from([[], ["one"], ["${ subject.id }:${ args.of }"]])),
        effect_class="irreversible" if final else "reversible",
        autonomy=draw(st.sampled_from(["auto", "auto", "auto", "ask"])),
    )
    if "verify" in made:
        made["verify"]["settle"] = draw(st.sampled_from([0.0, 3.0]))
    return made


class TestOneHalf:
    """A class each, as workers take whole classes."""

    @pytest.mark.parametrize("share", range(0, SHARES, 2))
    def test_after_each_step_of_any_schedule_the_promises_are_kept(
        self, share: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tell(share, clock, monkeypatch)


class TestTheOtherHalf:
    @pytest.mark.parametrize("share", range(1, SHARES, 2))
    def test_after_each_step_of_any_schedule_the_promises_are_kept(
        self, share: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tell(share, clock, monkeypatch)


def tell(share: int, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Counter[str]()

    class Schedule(RuleBasedStateMachine):
        @initialize(
            drawn=st.lists(tools(), min_size=1, max_size=3),
            beside=st.booleans(),
            paid=st.integers(0, 4),
            failing=st.sampled_from(["compensate", "compensate", "hold"]),
        )
        def begin_anew(self, drawn: list[dict[str, Any]], beside: bool, paid: int, failing: str) -> None:
            clock.step(-clock.ahead)
            self.stage = Stage(clock, monkeypatch)
            self.stage.declare(*drawn, after=[[]] * len(drawn) if beside else None, on_failure=failing)
            if paid > 2:
                give("agent:drawn", effects=paid)
            self.stage.start()
            self.stage.advance()

        @precondition(lambda self: len(self.stage.runs) < 3)
        @rule(twice=st.booleans())
        def an_agent_starts(self, twice: bool) -> None:
            self.stage.start(self.stage.runs[0].idempotency_key if twice else "")

        @rule(worker=WORKERS, number=st.integers(1, 4), at_once=MOSTLY)
        def goes_on(self, worker: int, number: int, at_once: bool) -> None:
            self.stage.advance()
            self.stage.release()
            self.stage.dispatch(worker, number)
            if at_once:
                self.stage.begin(worker)

        @precondition(lambda self: any(worker.held for worker in self.stage.workers))
        @rule(worker=WORKERS)
        def calls_begin(self, worker: int) -> None:
            self.stage.begin(worker)

        @precondition(lambda self: any(worker.inside for worker in self.stage.workers))
        @rule(worker=WORKERS, which=st.integers(0, 3), word=WORDS, late=LATE, at_once=MOSTLY)
        def a_call_ends(self, worker: int, which: int, word: str, late: float, at_once: bool) -> None:
            self.stage.answer(word, worker, which, late)
            if at_once:
                self.stage.record(worker)

        @precondition(lambda self: any(worker.answers for worker in self.stage.workers))
        @rule(worker=WORKERS)
        def answers_are_recorded(self, worker: int) -> None:
            self.stage.record(worker)

        @rule(worker=WORKERS, unreachable=st.sampled_from([0, 0, 1]), lag=st.sampled_from([0.0, 2.0]), at_once=MOSTLY)
        def somebody_looks(self, worker: int, unreachable: int, lag: float, at_once: bool) -> None:
            self.stage.look(worker, unreachable=unreachable, lag=lag)
            if at_once:
                self.stage.saw(worker)

        @precondition(lambda self: any(worker.seen for worker in self.stage.workers))
        @rule(worker=WORKERS)
        def looks_are_recorded(self, worker: int) -> None:
            self.stage.saw(worker)

        @rule(worker=WORKERS, word=st.sampled_from(["lost_after", "lost_before"]))
        def a_worker_dies(self, worker: int, word: str) -> None:
            self.stage.crash(worker, word)

        @rule(seconds=st.sampled_from([0.5, 0.5, 2.0, 5.0, LEASE + 2, -5.0]))
        def time_passes(self, seconds: float) -> None:
            self.stage.step(seconds)

        @rule()
        def the_sweep_comes(self) -> None:
            self.stage.sweep()

        @rule(which=st.integers(0, 9))
        def an_agent_cancels(self, which: int) -> None:
            if which < len(self.stage.runs):
                self.stage.cancel(which)

        @precondition(lambda self: any(run.needs_person for run in self.seen.runs))
        @rule(act=st.sampled_from(["look_again", "write_off", "compensate_run", "write_off_run"]))
        def a_person_acts(self, act: str) -> None:
            self.stage.person(act)

        @rule(act=st.sampled_from(["hold", "hold", "cancel", "write_off", "says", "settles"]), which=DRAWN)
        def a_person_decides_about_a_run(self, act: str, which: int) -> None:
            self.stage.person_on_run(act, which)

        @precondition(lambda self: any(run.phase == "unwinding" and run.needs_person for run in self.seen.runs))
        @rule()
        def held_runs_go_forward_again(self) -> None:
            self.stage.go_forward_again()

        @rule(which=st.integers(0, 2), said=MOSTLY)
        def what_was_built_upon_is_gone(self, which: int, said: bool) -> None:
            (self.stage.rename if said else self.stage.lose)(which)

        @rule(which=st.integers(0, 2))
        def a_person_makes_good(self, which: int) -> None:
            self.stage.make_good(which)

        @precondition(lambda self: self.seen.asked)
        @rule()
        def a_person_allows(self) -> None:
            self.stage.approve()

        @invariant()
        def the_promises_are_kept(self) -> None:
            if hasattr(self, "stage"):
                self.seen = promises.always(self.stage.outside, self.stage.beyond)
                told["steps"] += 1

        def teardown(self) -> None:
            if hasattr(self, "stage"):
                try:
                    self.stage.settle()
                    promises.at_the_end(self.stage.outside, self.stage.beyond)
                    told["schedules"] += 1
                finally:
                    self.stage.close()

    run_state_machine_as_test(
        seed(SEED * SHARES + share)(Schedule),
        settings=settings(
            max_examples=-(-SCHEDULES // SHARES),
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            phases=[Part.generate],  # shrinking would take minutes; the schedule is told as it is
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"told {told['schedules']} schedules, {told['steps']} steps")
