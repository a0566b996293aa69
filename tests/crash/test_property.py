"""Whatever providers answer and people do: nothing is made twice, nothing hangs, and what is written is true."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, note, settings
from hypothesis import Phase as Part

from tests.crash import watched
from tests.crash.scripts import Step, Story, stories
from tests.engine import simulated
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.drain import Drain
from workflows.engine import people
from workflows.engine.cancel import cancel
from workflows.errors import MakegoodError
from workflows.models import Effect, Entry, Run, Tool
from workflows.proof import Flaw, verify
from workflows.replay.check import check
from workflows.states import Phase

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
EXAMPLES = 80  # about 10 seconds on an idle machine
_numbers = itertools.count(1)


def test_every_story_ends_in_the_truth(
    world: World, workflow: Make, begin: Make, agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflows.drain.RECOVER_EVERY", 0.02)

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Part.generate],  # shrinking would take minutes; the story is told as it is
        suppress_health_check=list(HealthCheck),
    )
    @given(story=stories)
    def told(story: Story) -> None:
        note(str(story))
        runs = play(story, workflow, begin, agent)
        hold(simulated.WORLD, runs)

    told()
    flaws: list[Flaw] = []
    verify(flaws.append)
    assert flaws == []


def play(story: Story, workflow: Make, begin: Make, agent: Any) -> list[Run]:
    """1. The workflow's tools and what they meet. 2. Its runs, one perhaps cancelled on the way. 3. What people do."""
    simulated.fresh()
    watched.wake_up()
    story_number = next(_numbers)
    tools = [f"t{story_number}.s{n}" for n in range(len(story.steps))]
    for name, step in zip(tools, story.steps, strict=True):
        declare(name, step, story_number)
    after = {f"s{n}": [f"s{m}" for m in step.after] for n, step in enumerate(story.steps)}
    made = workflow(*tools, after=after, on_failure=story.on_failure, after_irreversible=story.after_irreversible)
    runs = [begin(made) for _ in range(story.twins)]
    drain = Drain(slots=4)
    try:
        if story.cancel_at is not None:
            for _ in range(story.cancel_at):
                drain.turn()
                drain.wait(0.001)
            try_to(lambda: cancel(agent, runs[0].id, reason="drawn"))
        until_idle(drain, story.drains - 1)
        for act in story.acts:
            do(act, runs)
            until_idle(drain, story.drains - 1)
    finally:
        drain.close()
    return [again(run) for run in runs]


def until_idle(drain: Drain, others: int) -> None:
    """Drains with so many others beside it; none of them may meet trouble."""
    troubles: list[BaseException] = []

    def beside() -> None:
        second = Drain(slots=4)
        try:
            second.until_idle(20)
        except BaseException as trouble:
            troubles.append(trouble)
        finally:
            second.close()
            connection.close()

    threads = [threading.Thread(target=beside) for _ in range(others)]
    for thread in threads:
        thread.start()
    try:
        drain.until_idle(20)
    finally:
        for thread in threads:
            thread.join()
    assert troubles == []
    drain.until_idle(20)


def declare(name: str, step: Step, story: int) -> None:
    spec = {**simulated.spec(**step.options(story)), "class": "tests.crash.watched.Watched"}
    if "compensate" in spec:
        spec["compensate"]["poll"] = spec["execute"]["poll"]
    if "compensate" in spec and step.fallback is not None:
        other = {**simulated.spec(undo=False), "class": "tests.crash.watched.Watched"}
        spec["compensate"]["fallbacks"] = [keep(f"{name}.other", other).name]
        simulated.WORLD.script(f"{name}.other", "execute", *step.fallback)
    keep(name, spec)
    words = {
        "execute": step.sends,
        "look": step.looks,
        "compensate": step.undoings,
        "look_undone": step.undone,
        "poll": step.polls,
    }
    if step.sleep:
        watched.sleepers[name] = step.sleep
    for what, script in words.items():
        simulated.WORLD.script(name, what, *script)


def keep(name: str, spec: dict[str, Any]) -> Tool:
    return Tool.objects.create(name=name, version=1, kind="python", digest="", spec=spec, owner="sim-desk")


def do(act: str, runs: list[Run]) -> None:
    """One act of a person on the first that it can be done to."""
    stuck = Effect.objects.filter(run__in=runs, state="stuck").first()
    turning = Run.objects.filter(id__in=[run.id for run in runs], phase="unwinding", needs_person=True).first()
    by = {"by": "person:drawn", "why": "drawn"}
    if stuck is not None and act == "look_again":
        try_to(lambda: people.look_again(stuck.id, **by))
    elif stuck is not None and act == "write_off":
        try_to(lambda: people.write_off(stuck.id, **by))
    elif turning is not None and act == "compensate_run":
        try_to(lambda: people.compensate_run(turning.id, **by))
    elif turning is not None and act == "write_off_run":
        try_to(lambda: people.write_off_run(turning.id, **by))


def try_to(act: Callable[[], object]) -> None:
    """What can't be done is refused with a clear error; anything else is a bug."""
    with contextlib.suppress(MakegoodError):
        act()


def hold(world: World, runs: list[Run]) -> None:
    assert len(world.made) == len(set(world.made)), "a key was booked twice"
    assert watched.together == [], "two were in flight on one scope"
    in_order_on_each_scope(runs)
    for run in runs:
        assert run.phase == Phase.OVER or run.needs_person or waits_for_a_person(run), f"it hangs, {run.state}"
        _, flaws = check(run.id)
        assert flaws == []
        effects = list(Effect.objects.filter(run=run).order_by("id"))
        for effect in effects:
            never_sent_after_yes(effect)
            if effect.forward:
                true_to(world, effect, [e for e in effects if e.compensates_id == effect.id])


def waits_for_a_person(run: Run) -> bool:
    """It says for which effect it waits, and that one's run needs a person."""
    blocked = Effect.objects.filter(run=run, state="blocked", reason="order")
    holders = [by["effect"] for effect in blocked for by in effect.blocked_by]
    return Effect.objects.filter(id__in=holders, run__needs_person=True).exists()


def never_sent_after_yes(effect: Effect) -> None:
    events = list(Entry.objects.filter(subject_id=effect.id).order_by("seq").values_list("event", flat=True))
    if "acknowledge" in events:
        assert "dispatch" not in events[events.index("acknowledge") :], events


def true_to(world: World, effect: Effect, undoings: list[Effect]) -> None:
    """`world` of an effect is what is there; while an undoing may have done something, only its own proof counts."""
    there = effect.key in world.things
    told = f"{effect.state} {effect.world}, and it is {'there' if there else 'not there'}"
    if effect.world == "gone":
        assert not there, told
    elif any(undoing.world != "nothing" for undoing in undoings):
        return
    elif effect.world == "nothing":
        assert not there, told
    elif effect.world == "present":
        assert there, told


def in_order_on_each_scope(runs: list[Run]) -> None:
    """By the journal: from dispatch until settled or at rest a scope belongs to one effect, or to its undoing."""
    holders: dict[str, Effect] = {}
    effects = {effect.id: effect for effect in Effect.objects.filter(run__in=runs)}
    for entry in Entry.objects.filter(subject_id__in=effects).order_by("id"):
        effect = effects[entry.subject_id]
        free = entry.after in ("verified", "failed", "cancelled", "undone", "written_off")
        free = free or (entry.after == "acknowledged" and not effect.verifiable)
        for scope in effect.scopes:
            if entry.event == "dispatch":
                holder = holders.get(scope, effect)
                assert holder.id in (effect.id, effect.compensates_id), f"{effect} went while {holder} held {scope}"
                holders[scope] = effect
            elif free and holders.get(scope) == effect:
                del holders[scope]
