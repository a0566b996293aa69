"""Bugs planted in the guards, one at a time: the promises that the random schedules are held to see each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tests.property import schedules
from tests.property.promises import Broken
from tests.property.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)
Patch = pytest.MonkeyPatch


def another_key_for_each_send(patch: Patch) -> None:
    from workflows import making

    real = making.call_for

    def call_for(effect: Any, *args: Any, **options: Any) -> Any:
        made = real(effect, *args, **options)
        return dataclasses.replace(made, key=f"{made.key}-{effect.attempts}")

    patch.setattr(making, "call_for", call_for)


def no_gate(patch: Patch) -> None:
    from workflows.policies import order

    patch.setattr(order, "before", lambda *_: [])


def no_frontier(patch: Patch) -> None:
    from workflows.engine import dispatch

    patch.setattr(dispatch, "_take_scopes", lambda effects, *_: effects)


def no_fence(patch: Patch) -> None:
    from workflows import ledger

    real = ledger.effect_guard
    patch.setattr(ledger, "effect_guard", lambda effect: {"states": real(effect)["states"]})


def no_residue(patch: Patch) -> None:
    from workflows.engine import advance

    patch.setattr(advance, "residue_of", lambda *_args, **_options: [])


def no_settle_time(patch: Patch) -> None:
    from workflows.policies import after_look

    for name in ("counts", "final"):
        patch.setattr(after_look, name, lambda *_: True)


def no_look_before_a_second_send(patch: Patch) -> None:
    from workflows.engine import look
    from workflows.policies.next import Next

    real = look._decide

    def decide(effect: Any, answer: Any, begun: Any, now: Any) -> Any:
        if effect.state == "unknown":
            return Next(move="resend", fields={"due_at": now, "absent": True})
        return real(effect, answer, begun, now)

    patch.setattr(look, "_decide", decide)


def no_order_of_undoing(patch: Patch) -> None:
    from workflows.policies import order

    patch.setattr(order, "dependants", lambda steps: {step.name: [] for step in steps})


def no_sentinel(patch: Patch) -> None:
    from workflows.engine import look

    patch.setattr(look, "_sentinel", lambda *_: None)


def no_journal(patch: Patch) -> None:
    from workflows import journal

    real = journal.write
    patch.setattr(journal, "write", lambda made: real([one for one in made if one[0]["event"] != "verify"]))


def no_policy(patch: Patch) -> None:
    from workflows.engine.parts import permission

    patch.setattr(permission, "ask", lambda effects, *_: (effects, []))


def no_intent(patch: Patch) -> None:
    from workflows import ledger

    real = ledger.intend
    patch.setattr(ledger, "intend", lambda _attempts, decisions: real([], decisions))


def no_second_reading_of_stops(patch: Patch) -> None:
    from workflows.engine import call

    patch.setattr(call, "still_allowed", lambda effects: ({effect.id for effect in effects}, set()))


def no_spending_of_approvals(patch: Patch) -> None:
    from workflows.authority import approvals

    patch.setattr(approvals, "spend", lambda *_: None)


def no_reserving_of_budgets(patch: Patch) -> None:
    from workflows.authority import budgets

    patch.setattr(budgets, "reserve", lambda effects, *_: effects)


def no_second_reading_of_names(patch: Patch) -> None:
    from workflows.engine.parts import last_read

    patch.setattr(last_read, "outdated", lambda _going: set())


def no_waiting_for_people(patch: Patch) -> None:
    from workflows.engine.parts import forerunners

    patch.setattr(forerunners, "uncertain", lambda *_: set())


def no_beginning_anew(patch: Patch) -> None:
    from workflows.engine.parts import names

    patch.setattr(names, "renew", lambda *_: [])


def no_reading_of_runs_before_they_go_on(patch: Patch) -> None:
    from workflows.engine.parts import names

    patch.setattr(names, "told", list)
    no_second_reading_of_names(patch)


def no_case(patch: Patch) -> None:
    from repairs import cases

    patch.setattr(cases, "follow", lambda _runs: None)


MUTANTS: list[tuple[Callable[[Patch], None], Callable[[Stage], None], str]] = [
    (another_key_for_each_send, schedules.the_same_key_again, "2:"),
    (no_gate, schedules.one_that_cannot_be_undone_beside_another, "13:"),
    (no_frontier, schedules.two_on_one_scope, "12:"),
    (no_fence, schedules.a_refusal_from_long_ago, "3:"),
    (no_residue, schedules.what_stands_in_the_end, "8:"),
    (no_settle_time, schedules.a_read_that_lags_behind, "2:"),
    (no_look_before_a_second_send, schedules.unknown_and_no_key, "2:"),
    (no_order_of_undoing, schedules.three_steps_back, "8:"),
    (no_sentinel, schedules.what_lands_after_its_undoing, "4:"),
    (no_journal, schedules.all_is_well, "10:"),
    (no_policy, schedules.all_is_well, "5:"),
    (no_intent, schedules.all_is_well, "1:"),
    (no_second_reading_of_stops, schedules.cancelled_between_intent_and_call, "13:"),
    (no_spending_of_approvals, schedules.one_that_a_person_allows, "6:"),
    (no_reserving_of_budgets, schedules.two_where_one_is_paid_for, "11:"),
    (no_second_reading_of_names, schedules.renamed_between_intent_and_call, "15:"),
    (no_waiting_for_people, schedules.gone_while_another_waits, "15:"),
    (no_beginning_anew, schedules.renamed_while_another_waits, "15:"),
    (no_reading_of_runs_before_they_go_on, schedules.renamed_just_before_another_goes, "15:"),
    (no_case, schedules.one_that_nobody_may_settle, "9:"),
]


@pytest.mark.parametrize("schedule", list(dict.fromkeys(schedule for _, schedule, _ in MUTANTS)))
def test_with_all_guards_on_the_promises_are_kept(schedule: Callable[[Stage], None], stage: Stage) -> None:
    schedule(stage)


@pytest.mark.parametrize(("mutant", "schedule", "promise"), MUTANTS, ids=[mutant.__name__ for mutant, _, _ in MUTANTS])
def test_a_guard_that_is_gone_breaks_its_promise(
    mutant: Callable[[Patch], None], schedule: Callable[[Stage], None], promise: str, stage: Stage, monkeypatch: Patch
) -> None:
    mutant(monkeypatch)
    with pytest.raises(Broken, match=f"^{promise}"):
        schedule(stage)
