"""Several steps, and their undoing: what stands, what was undone, what needs a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import findings, people
from workflows.engine.cancel import cancel
from workflows.errors import Invalid
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_refused_step_undoes_what_stands_in_reverse_order_of_dependency(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    for name in ("t.a", "t.b", "t.c", "t.d"):
        tool(name)
    world.script("t.d", "execute", "refused")
    run = run_through(workflow("t.a", "t.b", "t.c", "t.d", after={"c": ["a"], "d": ["b", "c"]}))
    assert (run.state, run.is_clean, run.residue) == ("compensated", False, [])
    assert world.things == {}
    undone = [name for name, operation, _ in world.sends if operation == "compensate"]
    assert sorted(undone[:2]) == ["t.b", "t.c"]
    assert undone[2:] == ["t.a"]
    assert {s.name: s.state for s in run.steps.all()} == {"a": "undone", "b": "undone", "c": "undone", "d": "failed"}
    assert states(run)["a forward"] == "undone gone"
    assert states(run)["a compensation"] == "verified present"


def test_an_undoing_has_its_own_key_and_the_same_one_over_its_attempts(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    world.script("t.a", "compensate", "temporary", "lost_before")
    run_through(workflow("t.a", "t.b"))
    keys: dict[str, set[str]] = {"execute": set(), "compensate": set()}
    for name, operation, key in world.sends:
        if name == "t.a":
            keys[operation].add(key)
    assert (len(keys["execute"]), len(keys["compensate"])) == (1, 1)
    assert keys["execute"] != keys["compensate"]


def test_a_refused_undoing_is_stuck_and_holds_back_only_what_it_depends_on(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    for name in ("t.a", "t.b", "t.c", "t.d"):
        tool(name)
    world.script("t.d", "execute", "refused")
    world.script("t.b", "compensate", "refused")
    run = run_through(workflow("t.a", "t.b", "t.c", "t.d", after={"b": ["a"], "c": [], "d": ["b", "c"]}))
    found = states(run)
    assert found["b compensation"] == "stuck nothing"
    assert found["b forward"] == "verified present", "a stuck undoing leaves its effect as it was seen"
    assert found["c forward"] == "undone gone"
    assert found["a forward"] == "verified present"
    assert "a compensation" not in found
    assert (run.state, run.phase, run.people_reasons[0]["code"]) == ("stuck", "unwinding", "refused")


def test_an_undoing_that_says_yes_and_does_nothing_is_found_out(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    world.script("t.a", "compensate", "lies")
    run = run_through(workflow("t.a", "t.b"))
    assert states(run)["a compensation"] == "stuck nothing"
    assert run.people_reasons[0]["code"] == "not_undone"
    assert len(world.things) == 1


def test_writing_off_a_stuck_undoing_lets_the_rest_be_undone_and_states_what_stands(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    for name in ("t.a", "t.b", "t.c"):
        tool(name)
    world.script("t.c", "execute", "refused")
    world.script("t.b", "compensate", "refused")
    run = run_through(workflow("t.a", "t.b", "t.c"))
    stuck = Effect.objects.get(state="stuck")
    people.write_off(stuck.id, by="person:tester", why="the customer keeps it")
    drain_once()
    run = again(run)
    assert (run.state, run.needs_person) == ("written_off", False)
    assert [row["world"] for row in run.residue] == ["present"]
    assert states(run)["a forward"] == "undone gone"


def test_an_undoing_is_recorded_as_absent_though_what_it_should_undo_still_stands(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    world.script("t.a", "compensate", "refused")
    run = run_through(workflow("t.a", "t.b"))
    undoing = Effect.objects.get(run=run, state="stuck", kind="compensation")
    with pytest.raises(Invalid, match="still stands"):
        findings.absent(undoing.id, by="person:day-desk", why="I saw nothing of it")
    assert states(again(run))["a compensation"].startswith("stuck ")


def test_looking_again_settles_what_was_unknown(world: World, tool: Make, workflow: Make, run_through: Make) -> None:
    tool("t.a")
    world.script("t.a", "look", "several")
    run = run_through(workflow("t.a"))
    people.look_again(Effect.objects.get().id, by="person:tester", why="the double is gone")
    drain_once()
    assert (again(run).state, states(run)) == ("completed", {"a forward": "verified present"})


def test_an_irreversible_act_waits_for_all_before_it_and_holds_the_way_back(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.mail", effect_class="irreversible", undo=False)
    tool("t.c")
    world.script("t.c", "execute", "refused")
    run = run_through(workflow("t.a", "t.mail", "t.c", after={"mail": [], "c": ["mail", "a"]}))
    order = [name for name, _, _ in world.sends]
    assert order.index("t.a") < order.index("t.mail"), "the gate holds an irreversible act until all before is settled"
    assert (run.state, run.people_reasons[0]["code"]) == ("stuck", "irreversible_happened")
    assert len(world.things) == 2
    people.compensate_run(run.id, by="person:tester", why="the mail may stand")
    drain_once()
    run = again(run)
    assert (run.state, [r["world"] for r in run.residue]) == ("repaired", ["present"])
    assert states(run)["a forward"] == "undone gone"


def test_a_workflow_that_accepts_irreversible_acts_states_them_as_residue(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.mail", effect_class="irreversible", undo=False, residue="A mail was sent.")
    tool("t.c")
    world.script("t.c", "execute", "refused")
    run = run_through(workflow("t.a", "t.mail", "t.c", after_irreversible="compensate"))
    assert run.state == "compensated_with_residue"
    assert [row["statement"] for row in run.residue] == ["A mail was sent."]


def test_an_irreversible_act_never_leaves_when_something_before_it_fails(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.mail", effect_class="irreversible", undo=False)
    world.script("t.a", "execute", "refused")
    run = run_through(workflow("t.a", "t.mail", after={"mail": []}))
    assert run.state == "failed"
    assert [name for name, _, _ in world.sends] == ["t.a"]
    assert states(run)["mail forward"] == "cancelled nothing"


def test_what_stands_without_a_way_back_needs_a_person(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", effect_class="bufferable", undo=False)
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.a", "t.b"))
    assert (run.state, run.people_reasons[0]["code"]) == ("stuck", "no_compensation")


def test_cancelling_stops_what_has_not_left_and_undoes_what_stands(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Any
) -> None:
    tool("t.a")
    tool("t.b")
    run = begin(workflow("t.a", "t.b"))
    cancel(agent, run.id, reason="the customer left")
    drain_once()
    assert (again(run).state, world.sends) == ("cancelled", [])
    assert {s.name: s.state for s in run.steps.all()} == {"a": "skipped", "b": "skipped"}


def test_an_unknown_effect_is_resolved_before_anything_is_undone(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.a", "execute", "lost_after")
    world.script("t.a", "look", "unreachable", "unreachable", "well")
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.a", "t.b", after={"b": []}))
    assert run.state == "compensated"
    assert (world.things, len(world.made)) == ({}, 1)


def test_an_undoing_that_found_nothing_is_watched_until_the_late_time_is_past(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    """The forward call was lost and shows nothing; it lands after the undoing, and is undone all the same."""
    tool("t.a", keyed=False, verify=True, late=0.6)
    tool("t.b")
    world.script("t.a", "execute", "lost_before")
    world.script("t.a", "look", *["inconclusive"] * 400)
    world.script("t.b", "execute", "refused")

    seen: list[str] = []

    def land(call: Any) -> None:
        if call.operation == "compensate" and not seen:
            seen.append(call.forward_key)

    world.inside = land
    run = run_through(workflow("t.a", "t.b", after={"b": []}))
    assert run.state in ("compensated", "failed", "stuck")
    assert world.things == {}


def test_a_completed_run_with_a_residue_text_of_its_undoing_says_so(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", undo_residue="Staff may have seen it.")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.a", "t.b"))
    assert run.state == "compensated_with_residue"
    assert [row["statement"] for row in run.residue] == ["Staff may have seen it."]


def test_arguments_that_do_not_fit_fail_the_step_and_nothing_is_sent(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    made = workflow("t.a")
    made.spec["steps"][0]["arguments"] = {"of": "${ input.nothing }"}
    made.save()
    run = run_through(made)
    assert (run.state, world.sends) == ("failed", [])
    assert run.steps.get().reason == "bad_arguments"


def test_a_natural_key_asks_the_world_before_it_sends(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.ours", by="natural_key")
    tool("t.theirs", by="natural_key")
    world.script("t.ours", "look", "found")
    world.script("t.theirs", "look", "differs")
    ours, theirs = run_through(workflow("t.ours")), run_through(workflow("t.theirs"))
    assert (ours.state, states(ours)) == ("completed", {"ours forward": "verified present"})
    assert states(theirs) == {"theirs forward": "stuck differs"}
    assert theirs.people_reasons[0]["code"] == "already_there"
    assert world.sends == []
