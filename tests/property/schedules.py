"""Schedules told on purpose: each comes to the point where one guard alone keeps a promise."""

from __future__ import annotations

from typing import Any

from tests.authority.purse import give
from tests.engine.simulated import spec
from tests.property import promises
from tests.property.stage import LEASE, Stage


def tool(**options: Any) -> dict[str, Any]:
    return spec(**options)


def sent(stage: Stage, worker: int = 0) -> None:
    """What is due is made, dispatched and begun."""
    stage.advance()
    stage.release()
    stage.dispatch(worker)
    stage.begin(worker)


def went(stage: Stage, word: str = "well", worker: int = 0, late: float = 0.0) -> None:
    """A call ends and is recorded."""
    stage.answer(word, worker, late=late)
    stage.record(worker)


def looked(stage: Stage, worker: int = 0, **options: Any) -> None:
    stage.look(worker, **options)
    stage.saw(worker)


def check(stage: Stage) -> None:
    promises.always(stage.outside, stage.beyond)


def done(stage: Stage) -> None:
    """One step from its beginning to where it was seen."""
    sent(stage)
    went(stage)
    looked(stage)


def the_same_key_again(stage: Stage) -> None:
    stage.declare(tool(verify=False))
    stage.start()
    sent(stage)
    went(stage, "lost_after")
    looked(stage)
    stage.step(1)
    sent(stage)
    went(stage)
    check(stage)


def one_that_cannot_be_undone_beside_another(stage: Stage) -> None:
    stage.declare(tool(), tool(effect_class="irreversible", undo=False), after=[[], []])
    stage.start()
    sent(stage)
    sent(stage)


def two_on_one_scope(stage: Stage) -> None:
    stage.declare(tool(scopes=["thing"]))
    stage.start()
    stage.start()
    sent(stage)


def a_refusal_from_long_ago(stage: Stage) -> None:
    stage.declare(tool())
    stage.start()
    sent(stage, worker=0)
    stage.step(LEASE + 2)
    stage.sweep()
    looked(stage, worker=1)
    stage.step(1)
    sent(stage, worker=1)
    went(stage, "refused", worker=0)
    stage.answer("well", worker=1)
    check(stage)


def what_stands_in_the_end(stage: Stage) -> None:
    stage.declare(tool(effect_class="irreversible", undo=False), tool())
    stage.start()
    done(stage)
    sent(stage)
    went(stage, "refused")
    for _ in range(3):
        stage.advance()
    check(stage)


def a_read_that_lags_behind(stage: Stage) -> None:
    slow = tool(keyed=False)
    slow["verify"]["settle"] = 3.0
    stage.declare(slow)
    stage.start()
    sent(stage)
    went(stage, "lost_after")
    looked(stage, lag=2.0)
    stage.step(1)
    sent(stage)
    went(stage)
    check(stage)


def unknown_and_no_key(stage: Stage) -> None:
    stage.declare(tool(keyed=False))
    stage.start()
    sent(stage)
    went(stage, "lost_after")
    looked(stage)
    stage.step(1)
    sent(stage)
    went(stage)
    check(stage)


def three_steps_back(stage: Stage) -> None:
    stage.declare(tool(), tool(), tool())
    stage.start()
    done(stage)
    done(stage)
    sent(stage)
    went(stage, "refused")
    for _ in range(3):
        sent(stage)
        went(stage)
        looked(stage)
        stage.advance()
    check(stage)


def what_lands_after_its_undoing(stage: Stage) -> None:
    """Nobody can look for a while, so a person has it; the run is cancelled, and undone before it has happened."""
    stage.declare(tool(late=200.0))
    stage.start()
    sent(stage)
    went(stage, "lost_after", late=150.0)
    for _ in range(7):
        looked(stage, unreachable=1)
        stage.step(15)
    stage.cancel()
    sent(stage)
    went(stage)
    looked(stage)
    stage.advance()
    stage.step(200)
    check(stage)


def cancelled_between_intent_and_call(stage: Stage) -> None:
    stage.declare(tool())
    stage.start()
    stage.advance()
    stage.dispatch()
    stage.cancel()
    stage.begin()


def renamed_between_intent_and_call(stage: Stage) -> None:
    stage.declare(tool(), tool())
    stage.start()
    done(stage)
    stage.advance()
    stage.dispatch()
    stage.rename()
    stage.advance()
    stage.begin()


def renamed_while_another_waits(stage: Stage) -> None:
    stage.declare(tool(), tool())
    stage.start()
    done(stage)
    stage.advance()
    stage.rename()
    sent(stage)
    went(stage)
    check(stage)


def gone_while_another_waits(stage: Stage) -> None:
    stage.declare(tool(), tool())
    stage.start()
    done(stage)
    stage.advance()
    stage.lose()
    sent(stage)
    stage.rename()
    sent(stage)
    went(stage)
    check(stage)


def renamed_just_before_another_goes(stage: Stage) -> None:
    stage.declare(tool(), tool())
    stage.start()
    done(stage)
    stage.advance()
    stage.rename()
    stage.dispatch()
    stage.begin()


def one_that_a_person_allows(stage: Stage) -> None:
    stage.declare(tool(autonomy="ask"))
    stage.start()
    sent(stage)
    stage.approve()
    sent(stage)
    went(stage)
    check(stage)


def two_where_one_is_paid_for(stage: Stage) -> None:
    stage.declare(tool())
    give("agent:drawn", effects=1)
    stage.start()
    stage.start()
    sent(stage)
    for _ in range(2):
        went(stage)
    check(stage)


def one_that_nobody_may_settle(stage: Stage) -> None:
    stage.declare(tool(keyed=False, verify=False))
    stage.start()
    sent(stage)
    went(stage, "lost_after")
    looked(stage)
    stage.advance()
    check(stage)


def all_is_well(stage: Stage) -> None:
    stage.declare(tool())
    stage.start("the same")
    stage.start("the same")
    done(stage)
    stage.settle()
    promises.at_the_end(stage.outside, stage.beyond)
