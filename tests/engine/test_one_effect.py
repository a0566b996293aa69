"""One effect: what each answer and each look makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import states
from tests.engine.simulated import World
from workflows.models import Attempt, Decision, Effect, Entry, Look, Run, ScopeHold

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_what_goes_well_is_acknowledged_then_verified_and_clean(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", scopes=["thing:${ args.of }"])
    run = run_through(workflow("t.a"))
    assert (run.state, run.is_clean, run.residue) == ("completed", True, [])
    assert states(run) == {"a forward": "verified present"}
    effect = Effect.objects.get()
    assert [e.event for e in Entry.objects.filter(subject_id=effect.id)] == [
        "create",
        "dispatch",
        "acknowledge",
        "verify",
    ]
    assert (Attempt.objects.get().outcome, Look.objects.get().verdict, Decision.objects.get().verdict) == (
        "acknowledged",
        "found",
        "allow",
    )
    assert not ScopeHold.objects.exists()


@pytest.mark.parametrize(
    ("script", "sends", "final"),
    [
        (["lost_after"], 1, "verified present"),
        (["lost_before"], 2, "verified present"),
        (["crash"], 2, "verified present"),
        (["not_sent", "not_sent", "not_sent", "not_sent"], 5, "verified present"),
        (["temporary", "temporary"], 3, "verified present"),
        (["temporary", "temporary", "temporary"], 3, "failed nothing"),
        (["refused"], 1, "failed nothing"),
        (["lost_before", "refused"], 2, "failed nothing"),
        (["pending"], 1, "verified present"),
    ],
)
def test_an_answer_leads_to_exactly_one_thing_or_none(
    world: World, tool: Make, workflow: Make, run_through: Make, script: list[str], sends: int, final: str
) -> None:
    tool("t.a")
    world.script("t.a", "execute", *script)
    run = run_through(workflow("t.a"))
    assert states(run) == {"a forward": final}
    assert len(world.sends) == sends
    assert len({key for _, _, key in world.sends}) == 1, "one key per effect, for ever"
    assert len(world.things) == (1 if "present" in final else 0)
    assert run.state == ("completed" if "present" in final else "failed")


def test_a_refusal_after_a_lost_answer_is_not_believed_for_the_lost_one(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    """The first send took effect and reads lag behind; the second is refused, say as a duplicate."""
    tool("t.a")
    world.script("t.a", "execute", "lost_after", "refused")
    world.script("t.a", "look", "absent")
    run = run_through(workflow("t.a"))
    # A counted absence that was untrue: the second send's refusal restores nothing, the doubt was settled by the look.
    assert states(run)["a forward"] in ("failed nothing", "verified present")


def test_looks_that_cannot_reach_the_authority_never_count(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    world.script("t.a", "execute", "lost_before")
    world.script("t.a", "look", "unreachable", "unreachable")
    run = run_through(workflow("t.a"))
    assert states(run) == {"a forward": "verified present"}
    assert [look.counted for look in Look.objects.filter(verdict="inconclusive")] == [False, False]


@pytest.mark.parametrize("verdict", ["differs", "several"])
def test_what_is_there_but_not_as_asked_is_stuck_and_needs_a_person(
    world: World, tool: Make, workflow: Make, run_through: Make, verdict: str
) -> None:
    tool("t.a")
    world.script("t.a", "look", verdict)
    run = run_through(workflow("t.a"))
    assert states(run) == {"a forward": f"stuck {verdict}"}
    assert (run.state, run.needs_person, run.people_reasons[0]["code"]) == ("stuck", True, verdict)


def test_a_yes_of_which_nothing_is_ever_seen_is_stuck_and_never_sent_again(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    world.script("t.a", "execute", "lies")
    run = run_through(workflow("t.a"))
    assert states(run) == {"a forward": "stuck nothing"}
    assert len(world.sends) == 1


def test_without_a_look_a_yes_stays_acknowledged_and_the_run_is_not_clean(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", verify=False)
    run = run_through(workflow("t.a"))
    assert states(run) == {"a forward": "acknowledged unknown"}
    assert (run.state, run.is_clean, len(run.residue)) == ("completed", False, 1)


def test_without_a_look_the_same_key_is_sent_again_only_where_it_is_honoured(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.keyed", verify=False)
    tool("t.none", verify=False, keyed=False)
    world.script("t.keyed", "execute", "lost_after")
    world.script("t.none", "execute", "lost_after")
    keyed, none = run_through(workflow("t.keyed")), run_through(workflow("t.none"))
    assert states(keyed) == {"keyed forward": "acknowledged unknown"}
    assert states(none) == {"none forward": "stuck unknown"}
    assert none.people_reasons[0]["code"] == "cannot_know"
    assert [name for name, _, _ in world.sends].count("t.none") == 1


def test_what_only_reads_is_settled_by_its_answer(world: World, tool: Make, workflow: Make, run_through: Make) -> None:
    tool("t.a", effect_class="read_only", access="read_only", undo=False)
    run = run_through(workflow("t.a"))
    assert (run.state, run.is_clean) == ("completed", True)


def test_an_agent_without_the_tool_is_denied_at_the_door(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Any
) -> None:
    from tests.engine.conftest import again
    from workflows.drain import drain_once

    tool("t.a")
    run: Run = begin(workflow("t.a"))
    agent.tools = []
    agent.save()
    drain_once()
    assert states(again(run)) == {"a forward": "cancelled nothing"}
    assert (again(run).state, world.sends, Decision.objects.get().rule) == ("failed", [], "not-granted")


def test_what_was_there_before_is_kept_before_the_first_byte_leaves(
    world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.engine.simulated import SimTool
    from workflows.outcomes import Sighting, Verdict

    made = tool("t.a")
    made.spec["before"] = {}
    made.save()
    seen = [
        Sighting(verdict=Verdict.INCONCLUSIVE, reason="busy"),
        Sighting(verdict=Verdict.FOUND, result={"title": ""}),
    ]
    kept: list[Any] = []
    monkeypatch.setattr(SimTool, "before", lambda self, call: seen.pop(0))
    world.inside = lambda call: kept.append(call.before)
    run = run_through(workflow("t.a"))
    assert run.state == "completed"
    assert Effect.objects.get().before == {"title": ""}
    assert [attempt.outcome for attempt in Attempt.objects.all()] == ["not_sent", "acknowledged"]
    assert kept == [{"title": ""}]
