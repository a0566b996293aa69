"""A remedy beside its run: what it is, what it leaves, and how the run ends once it is settled."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.clock import Clock
from tests.engine.conftest import again, states
from tests.engine.remedy.asking import BY, ask, codes, of
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import findings, people
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.overdue import overdue
from workflows.engine.steps import StepBody, add_step
from workflows.models import Agent, Run, Step
from workflows.policies import ages
from workflows.reading import effect_in_full, run_in_full

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_remedy_is_an_effect_of_its_own_and_the_case_stays_until_a_look_showed_it(world: World, stuck: Run) -> None:
    charge = of(stuck, "charge")
    made = ask(stuck, of=charge)
    drain_once(slots=8)
    assert states(stuck)["remedy-1 remedy"] == "verified present"
    assert Step.objects.get(run=stuck, name="remedy-1").state == "done"
    assert world.made.count(made.key) == 1
    assert codes(stuck) == ["several"], "what was made good needs a finding all the same"
    findings.found(charge.id, by=BY, why="one charge is left", result={"id": "ch_1"})
    drain_once(slots=8)
    run = again(stuck)
    assert (run.phase, run.state, run.is_clean, run.needs_person) == ("over", "repaired", False, False)


def test_a_remedy_shows_as_the_contract_says(stuck: Run, agent: Agent) -> None:
    charge = of(stuck, "charge")
    made = ask(stuck, of=charge)
    drain_once(slots=8)
    told = run_in_full(again(stuck))
    kinds = {effect["step"]: (effect["kind"], effect["state"]) for effect in told["effects"]}
    assert kinds == {"charge": ("forward", "stuck"), "remedy-1": ("remedy", "verified")}
    assert [(s["name"], s["state"], s["effect"]) for s in told["steps"]][-1] == ("remedy-1", "done", str(made.id))
    full = effect_in_full(agent, charge.id)
    assert full["made_good_by"] == [str(made.id)]
    assert effect_in_full(agent, made.id)["makes_good"] == str(charge.id)


def test_what_was_made_good_says_so_in_its_residue_and_only_once_the_remedy_was_seen(world: World, stuck: Run) -> None:
    charge = of(stuck, "charge")
    world.script("t.refund", "look", *["unreachable"] * 3)
    ask(stuck, of=charge)

    def residue() -> dict[str, str]:
        return {row["effect"]: row["statement"] for row in run_in_full(again(stuck))["residue"]}

    assert residue()[str(charge.id)] == "A charge stands."
    drain_once(slots=8)
    said = "A charge stands. Made good, which a look showed: A refund was made."
    assert residue()[str(charge.id)] == said


def test_a_run_that_is_over_opens_for_a_remedy_alone_and_ends_as_repaired(world: World, over: Run) -> None:
    world.script("t.refund", "execute", "temporary")
    ask(over, of=of(over, "charge"))
    assert again(over).phase == "unwinding"
    drain_once(slots=1)
    run = again(over)
    assert (run.phase, run.state, run.ending) == ("over", "repaired", "")
    assert states(over) == {"charge forward": "verified present", "remedy-1 remedy": "verified present"}
    assert run.residue == [], "all is as it should be"


def test_the_way_back_neither_calls_a_remedy_off_nor_undoes_it_and_ends_after_it(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Agent
) -> None:
    tool("t.charge")
    tool("t.message", residue="A message was sent.")
    world.script("t.message", "look", *["unreachable"] * 2)
    run = begin(workflow("t.charge"))
    advance(only=run.id)
    made = ask(run, "t.message")
    cancel(agent, run.id, reason="no more")
    while advance():
        assert again(run).phase == "unwinding", "it ended before its remedy"
    drain_once(slots=8)
    assert states(run) == {"charge forward": "cancelled nothing", "remedy-1 remedy": "verified present"}
    assert (again(run).phase, again(run).state, world.made) == ("over", "repaired", [made.key])


def test_a_cancelled_run_with_a_remedy_undoes_what_stands_and_not_the_remedy(
    world: World, tool: Make, workflow: Make, run_through: Make, agent: Agent
) -> None:
    tool("t.charge")
    tool("t.message", residue="A message was sent.")
    tool("t.slow")
    world.script("t.slow", "execute", *["temporary"] * 2, "refused")
    run = run_through(workflow("t.charge", "t.slow", on_failure="hold"))
    assert codes(run) == ["hold"]
    ask(run, "t.message", of(run, "charge"))
    people.compensate_run(run.id, by=BY, why="undo it")
    drain_once(slots=8)
    assert states(run) == {
        "charge forward": "undone gone",
        "charge compensation": "verified present",
        "slow forward": "failed nothing",
        "remedy-1 remedy": "verified present",
    }
    run = again(run)
    assert (run.phase, run.state) == ("over", "repaired")
    assert [row["statement"] for row in run.residue] == ["A message was sent."], "the remedy stands: it is residue"


def test_a_remedy_that_gets_stuck_stays_with_the_case_and_no_step_fails_by_it(world: World, over: Run) -> None:
    world.script("t.refund", "execute", "refused")
    made = ask(over)
    drain_once(slots=8)
    run = again(over)
    assert (run.phase, run.state, codes(over)) == ("unwinding", "stuck", ["refused"])
    findings.absent(made.id, by=BY, why="paid back by bank transfer instead")
    drain_once(slots=8)
    assert states(over)["remedy-1 remedy"] == "cancelled nothing"
    run = again(over)
    assert (run.phase, run.state) == ("over", "repaired"), "a finding was used"
    assert Step.objects.get(run=over, name="remedy-1").state == "skipped"


def test_a_slow_remedy_is_no_deadline_and_an_agents_next_step_does_not_wait_for_it(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Agent, refund: Any
) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    tool("t.note")
    run = begin(workflow(open_=True), open=True)
    ask(run, "t.pay")
    body = StepBody(name="note", tool="t.note", arguments={}, digest=str(uuid.uuid4()))
    step, _ = add_step(agent, run.id, body)
    assert step.after == []
    drain_once(slots=8)
    assert states(run) == {"remedy-1 remedy": "blocked nothing", "note forward": "verified present"}
    Run.objects.filter(id=run.id).update(deadline=run.created_at, advance_at=run.created_at)
    before = codes(run)
    advance(only=run.id)
    assert (again(run).sealed, before, codes(run)) == (True, ["remedy"], ["remedy"]), "its case closed for a moment"
    drain_once(slots=8)
    assert again(run).phase == "running", "a remedy that waits for a yes made the run turn back"


def test_a_remedy_that_nobody_takes_is_told_as_one_that_is_on_its_way(clock: Clock, world: World, over: Run) -> None:
    ask(over)
    advance()
    assert codes(over) == ["remedy"]
    clock.step(ages.BOUNDS["ready"] + 60)
    assert overdue() == {over.id}
    advance()
    assert codes(over) == ["remedy", "no_progress"]
