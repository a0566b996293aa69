"""Stops: when a freeze has returned nothing new is sent, looks go on, and lifting lets everything go at once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import proof, reading, rows
from workflows.authority import stops
from workflows.drain import Drain, drain_once
from workflows.engine import dispatch, record
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.recover import recover
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Agent, Effect, Entry, Run, Stop
from workflows.outcomes import Acknowledged

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
DESK, OTHER = "person:desk", "person:other"


def freeze(target: str = "everything", name: str = "", **options: Any) -> Stop:
    frozen = stops.freeze(target, name, **{"by": DESK, "why": "odd answers", **options})
    assert frozen.quiet
    return frozen.stop


def held(run: Run) -> list[tuple[str, str, Any]]:
    return [(e.state, e.reason, [by.get("stop") for by in e.blocked_by]) for e in Effect.objects.filter(run=run)]


def until_verified(run: Run) -> None:
    """Goes on until the run's first effect is verified; the next may be ready by then, and isn't sent."""
    drain = Drain(slots=4)
    turn_until(drain, lambda: Effect.objects.filter(run=run, state="verified").exists())
    drain.close()


def turn_until(drain: Drain, holds: Callable[[], bool]) -> None:
    for _ in range(5000):
        if holds():
            return
        drain.turn()
        drain.wait(0.005)
    raise AssertionError("it never came to that")


TARGETS = ["tool", "agent", "workflow", "subject", "everything"]


def name_of(target: str, run: Run) -> str:
    names = {"tool": "t.a", "agent": run.agent.name, "workflow": run.workflow.name}
    return {**names, "subject": f"customer:{run.subject_id}"}.get(target, "")


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_frozen_is_sent_nothing_says_by_what_it_is_held_and_goes_on_when_lifted(
    target: str, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = again(begin(workflow("t.a")))
    stop = freeze(target, name_of(target, run), until=rows.now() + dt.timedelta(hours=1))
    drain_once()
    assert (world.sends, held(run)) == ([], [("blocked", "hold", [str(stop.id)])])
    [shown] = reading.run_in_full(run)["blocked_by"]
    assert (shown["reason"], shown["by"][0]["on"], shown["until"]) == ("hold", stop.on, stop.until)
    stops.lift(stop.id, by=OTHER, why="it was the weather")
    drain_once()
    assert (again(run).state, len(world.sends)) == ("completed", 1)


@pytest.mark.parametrize("target", TARGETS[:-1])
def test_what_is_not_named_goes_on(target: str, world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    tool("t.b")
    Agent.objects.create(name="other", tools=["*"], workflows=["*"])
    elsewhere = {"tool": "t.b", "agent": "other", "workflow": workflow("t.a").name, "subject": "customer:nobody"}
    freeze(target, elsewhere[target])
    run = begin(workflow("t.a"))
    drain_once()
    assert again(run).state == "completed"


def test_an_end_by_the_databases_time_lets_go_by_itself(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    stop = freeze(until=rows.now() + dt.timedelta(hours=1))
    assert dispatch.dispatch(1) == []
    assert held(run) == [("blocked", "hold", [str(stop.id)])]
    assert Effect.objects.get().due_at == stop.until
    soon = rows.now() + dt.timedelta(seconds=0.2)  # as if the hour were over
    Stop.objects.update(until=soon)
    Effect.objects.update(due_at=soon)
    drain_once()
    assert again(run).state == "completed"
    assert [ended.on for ended in stops.end_over()] == ["everything"]
    assert (Stop.objects.get().state, stops.end_over()) == ("ended", [])


def test_who_is_held_by_two_waits_for_both(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    first, second = freeze("tool", "t.a"), freeze(until=rows.now() + dt.timedelta(hours=1))
    drain_once()
    assert held(run) == [("blocked", "hold", [str(first.id), str(second.id)])]
    assert Effect.objects.get().due_at is None, "one of them has no end"
    stops.lift(first.id, by=OTHER, why="well again")
    drain_once()
    assert held(run) == [("blocked", "hold", [str(second.id)])]
    stops.lift(second.id, by=OTHER, why="well again")
    drain_once()
    assert again(run).state == "completed"


@pytest.mark.parametrize("target", TARGETS)
def test_undoing_goes_on_when_its_agent_is_frozen_and_under_no_other_stop(
    target: str, world: World, tool: Make, workflow: Make, begin: Make, agent: Agent
) -> None:
    tool("t.a")
    tool("t.b")
    run = begin(workflow("t.a", "t.b"))
    until_verified(run)
    stop = freeze(target, name_of(target, again(run)))
    cancel(agent, run.id, reason="the customer left")
    drain_once()
    if target == "agent":
        assert (states(again(run))["a forward"], again(run).state) == ("undone gone", "compensated")
        return
    assert Effect.objects.filter(kind="compensation", state="blocked", reason="hold").exists(), "and it says so"
    assert Effect.objects.get(kind="forward", step__name="a").key in world.things
    stops.lift(stop.id, by=OTHER, why="well again")
    drain_once()
    assert again(run).state == "compensated"


def test_looks_go_on_under_every_stop(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a", keyed=False)
    world.honours_keys = False
    world.script("t.a", "execute", "lost_after")
    world.script("t.a", "look", "unreachable")
    run = begin(workflow("t.a"))
    drain = Drain(slots=4)
    turn_until(drain, lambda: bool(world.sends))
    freeze()
    drain.until_idle()
    drain.close()
    assert states(again(run)) == {"a forward": "verified present"}
    assert len(world.sends) == 1


def test_a_late_yes_to_what_is_held_by_now_is_looked_at_before_anything_is_sent_again(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Its worker was given up, nothing was seen, and the resend is held: then the first send's answer comes."""
    tool("t.a")
    world.honours_keys = False
    run = begin(workflow("t.a"))
    advance()
    [late] = dispatch.dispatch(1)
    Effect.objects.update(lease_until=rows.now() - dt.timedelta(hours=1))
    stop = freeze()
    recover()
    drain_once()
    assert held(run) == [("blocked", "hold", [str(stop.id)])]
    world.things[late.key] = {}
    record.record([(late, Acknowledged(result={"id": f"id-{late.key}"}))])
    drain_once()
    assert states(again(run)) == {"a forward": "verified present"}, "under the stop: it was only looked at"
    stops.lift(stop.id, by=OTHER, why="well again")
    drain_once()
    assert (again(run).state, world.sends) == ("completed", [])


def test_time_under_a_stop_is_not_the_effects_own(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    """What was dispatched long ago and is held before its call would else have used up its time for trying."""
    stored = tool("t.a")
    stored.spec["retry"] = {**stored.spec["retry"], "within": 0.000001}
    stored.save()
    run = begin(workflow("t.a"))
    drain = Drain(slots=4)
    real: Callable[[list[Effect]], None] = drain._call
    stop: list[Stop] = []

    def call_after_freeze(effects: list[Effect]) -> None:
        if effects and not stop:
            stop.append(freeze())
        real(effects)

    drain._call = call_after_freeze  # type: ignore[method-assign]
    drain.until_idle()
    drain.close()
    assert held(run) == [("blocked", "hold", [str(stop[0].id)])]
    assert (world.sends, Effect.objects.get().attempts) == ([], 0)
    stops.lift(stop[0].id, by=OTHER, why="well again")
    drain_once()
    assert again(run).state == "completed"


@pytest.mark.parametrize(
    ("target", "name", "path"),
    [
        ("mailbox", "x", "target"),
        ("tool", "t.unknown", "name"),
        ("agent", "", "name"),
        ("workflow", "w'", "name"),
        ("subject", "customer", "name"),
        ("subject", "customer:\u202e", "name"),
        ("everything", "all", "name"),
    ],
)
def test_a_freeze_of_what_is_not_there_is_refused_by_name(db: None, target: str, name: str, path: str) -> None:
    with pytest.raises(Invalid) as refused:
        stops.freeze(target, name, by=DESK, why="odd answers")
    assert [flaw.path for flaw in refused.value.flaws] == [path]
    assert not Stop.objects.exists()


def test_a_freeze_needs_a_reason_and_an_end_that_is_to_come(db: None) -> None:
    for options, path in (({"why": " "}, "why"), ({"until": rows.now()}, "until")):
        with pytest.raises(Invalid) as refused:
            freeze(**options)
        assert [flaw.path for flaw in refused.value.flaws] == [path]
    assert not Stop.objects.exists()


@pytest.mark.parametrize(
    ("target", "chosen", "four_eyes", "may"),
    [
        ("everything", None, "required", False),
        ("tool", None, "required", False),
        ("agent", None, "required", True),
        ("subject", None, "required", True),
        ("agent", True, "required", False),
        ("everything", False, "required", True),
        ("everything", None, "when_possible", True),
    ],
)
def test_who_froze_lifts_alone_only_where_the_stop_or_the_installation_says_so(
    target: str, chosen: bool | None, four_eyes: str, may: bool, tool: Make, agent: Agent, settings: Any
) -> None:
    settings.FOUR_EYES = four_eyes
    tool("t.a")
    names = {"everything": "", "tool": "t.a", "agent": agent.name, "subject": "customer:1"}
    stop = freeze(target, names[target], second_person=chosen)
    if may:
        lifted = stops.lift(stop.id, by=DESK, why="well again")
        assert (lifted.state, lifted.alone) == ("lifted", stop.second_person)
        return
    with pytest.raises(Denied, match="another person must lift it"):
        stops.lift(stop.id, by=DESK, why="well again")
    assert stops.lift(stop.id, by=OTHER, why="well again").state == "lifted"


def test_history_tells_who_froze_and_who_lifted_and_is_proved_whole(db: None) -> None:
    stop = freeze()
    stops.lift(stop.id, by=OTHER, why="well again")
    with pytest.raises(StaleFence, match="not frozen by this any more"):
        stops.lift(stop.id, by=OTHER, why="twice")
    told = [(e.event, e.before, e.after, e.actor) for e in Entry.objects.filter(subject_id=stop.id).order_by("seq")]
    assert told == [("freeze", "", "frozen", DESK), ("lift", "frozen", "lifted", OTHER)]
    flaws: list[Any] = []
    summary = proof.verify(flaws.append)
    assert (flaws, summary.subjects) == ([], 2), "and the shipped policy"


def test_what_two_stops_hold_goes_when_the_first_of_them_is_over(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    ends = [rows.now() + dt.timedelta(hours=hours) for hours in (2, 1)]
    for end in ends:
        stops.freeze("tool", "t.a", by="person:day", why="odd answers", until=end)
    effect = Effect.objects.get(run=run_through(workflow("t.a")))
    assert (effect.reason, effect.due_at) == ("hold", ends[0])
