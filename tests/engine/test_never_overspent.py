"""Whatever budgets there are, providers answer, and people cancel, and whoever dies: nothing is overspent."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import Phase as Part
from hypothesis import strategies as st

from tests.authority.purse import give, priced, taken
from tests.engine import simulated
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import rows
from workflows.drain import Drain
from workflows.engine import dispatch as dispatching
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.reconcile import reconcile
from workflows.engine.recover import recover
from workflows.errors import MakegoodError
from workflows.models import Attempt, Budget, Effect, Reservation
from workflows.states import Phase

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
EXAMPLES = 15  # about 3 seconds on an idle machine
_numbers = itertools.count(1)

ANSWERS = ("well", "well", "lost_after", "lost_before", "temporary", "refused", "not_sent", "crash")
LIMITS = st.dictionaries(st.sampled_from(["EUR", "calls", "effects", "customers"]), st.integers(0, 6), max_size=3)


@dataclasses.dataclass(frozen=True)
class Story:
    """`amounts`: of each step, in euros; None: nobody knows. `died`, `cancelled`: after so many turns, if at all."""

    of_agent: dict[str, int]
    of_tool: dict[str, int]
    of_runs: list[dict[str, int]]
    amounts: list[int | None]
    answers: list[str]
    died: int | None
    cancelled: int | None


STORIES = st.builds(
    Story,
    of_agent=LIMITS,
    of_tool=LIMITS,
    of_runs=st.lists(LIMITS, min_size=1, max_size=3),
    amounts=st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=4),
    answers=st.lists(st.sampled_from(ANSWERS), max_size=8),
    died=st.none() | st.integers(0, 2),
    cancelled=st.none() | st.integers(0, 4),
)


def test_nothing_is_ever_overspent(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Part.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(story=STORIES)
    def told(story: Story) -> None:
        note(str(story))
        play(story, tool, workflow, begin)

    told()


def play(story: Story, tool: Make, workflow: Make, begin: Make) -> None:
    """1. Budgets, and runs of which each later one is begun under the first. 2. Work, a death, a cancel. 3. The end."""
    world = simulated.fresh()
    name = f"t{next(_numbers)}.pay"
    priced(tool(name))
    world.script(name, "execute", *story.answers)
    Budget.objects.filter(owner="agent:sim").update(owner=f"agent:was{name}")
    budgets = [give("agent:sim", "ever", **story.of_agent), give(f"tool:{name}", "ever", **story.of_tool)]
    flow = flow_of(story, name, workflow)
    runs: list[Any] = []
    for limits in story.of_runs:
        asked: dict[str, Any] = {unit: amount for unit, amount in limits.items() if unit != "EUR"}
        asked |= {"money": {"EUR": limits["EUR"]}} if "EUR" in limits else {}
        asked |= {"of": str(runs[0].id)} if runs else {"calls": limits.get("calls", 50)}
        runs.append(begin(flow, budget=asked))
    budgets += [Budget.objects.get(owner=f"run:{run.id}") for run in runs]
    drain = Drain(slots=4)
    try:
        for turn in range(5):
            if turn == story.died:
                die()
            if turn == story.cancelled:
                with contextlib.suppress(MakegoodError):
                    cancel(runs[0].agent, runs[0].id, reason="drawn")
            drain.turn()
            drain.wait(0.001)
            within(budgets)
        drain.until_idle()
    finally:
        drain.close()
    reconcile()
    within(budgets)
    at_the_end(world, budgets, runs)


def flow_of(story: Story, name: str, workflow: Make) -> Any:
    flow = workflow(*[name] * len(story.amounts))
    for n, (step, amount) in enumerate(zip(flow.spec["steps"], story.amounts, strict=True)):
        known = {} if amount is None else {"amount": amount}
        step.update(name=f"s{n}", after=[], arguments={"of": f"s{n}", **known})
    flow.save()
    return flow


def die() -> None:
    """A worker dispatches, may have called, and is never heard of again."""
    advance()
    gone = [effect.id for effect in dispatching.dispatch(2)]
    Effect.objects.filter(id__in=gone).update(lease_until=rows.now() - dt.timedelta(hours=1))
    recover()


def within(budgets: list[Budget]) -> None:
    for budget in budgets:
        used, reserved = taken(budget)  # each is what its reservations add up to
        for unit, limit in budget.limits.items():
            assert used.get(unit, 0) + reserved.get(unit, 0) <= limit, (str(budget), unit)


def at_the_end(world: World, budgets: list[Budget], runs: list[Any]) -> None:
    """What the world saw is within the limits, and nothing is held for effects that are at rest."""
    calls = Attempt.objects.filter(effect__kind="forward", effect__run__in=runs).exclude(outcome="not_sent").count()
    for budget in budgets[:3]:  # of agent and tool, and of the run that all others are begun under
        assert calls <= budget.limits.get("calls", calls)
        assert len(world.made) <= budget.limits.get("effects", len(world.made))
    resting = Effect.objects.filter(state__in=["verified", "failed", "cancelled", "undone"], run__in=runs)
    assert not Reservation.objects.filter(effect__in=resting, open=True).exists()
    for run in map(again, runs):
        waits = run.needs_person or run.effects.filter(state="blocked").exists() or run.phase == Phase.OVER
        assert waits, "nothing stops in silence"
