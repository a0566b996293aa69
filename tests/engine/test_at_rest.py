"""What a look means that comes once more: only what proves the contrary of what is believed moves anything."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any, cast

import pytest

from workflows.models import Effect
from workflows.outcomes import Sighting, Verdict
from workflows.policies.at_rest import looked_at_rest, looked_once_more
from workflows.tools.timings import Timings

NOW = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)
NONE = dict.fromkeys((field.name for field in dataclasses.fields(Timings)), 0)
TIMES = Timings(**cast(dict[str, Any], {**NONE, "every": 60.0, "looks": 3}))


def of(state: str, world: str, **known: Any) -> Effect:
    return Effect(key="k", kind="forward", state=state, world=world, verified_at=NOW, **known)


@pytest.mark.parametrize(
    ("state", "world", "verdict", "move"),
    [
        ("failed", "nothing", Verdict.FOUND, "stick"),
        ("failed", "nothing", Verdict.ABSENT, "note"),
        ("written_off", "nothing", Verdict.FOUND, "stick"),
        ("written_off", "present", Verdict.FOUND, "note"),  # two people left it standing
        ("written_off", "unknown", Verdict.SEVERAL, "note"),
        ("undone", "gone", Verdict.FOUND, "stick"),
        ("undone", "gone", Verdict.DIFFERS, "note"),  # something was there before
        ("undone", "gone", Verdict.SEVERAL, "note"),
        ("verified", "present", Verdict.SEVERAL, "stick"),
        ("verified", "present", Verdict.DIFFERS, "note"),
    ],
)
def test_a_look_at_what_is_at_rest_moves_it_without_proof_of_the_contrary(
    state: str, world: str, verdict: Verdict, move: str
) -> None:
    assert looked_at_rest(of(state, world), Sighting(verdict=verdict), TIMES, now=NOW).move == move


@pytest.mark.parametrize(("misses", "move"), [(0, "note"), (1, "note"), (2, "stick")])
def test_one_miss_says_that_an_undoing_was_reversed(misses: int, move: str) -> None:
    undoing = of("verified", "present", misses=misses)
    found = looked_once_more(undoing, Sighting(verdict=Verdict.ABSENT), TIMES, now=NOW)
    assert found.move == move
    if move == "note":
        assert found.knows == {"due_at": NOW + dt.timedelta(seconds=60), "misses": misses + 1}
