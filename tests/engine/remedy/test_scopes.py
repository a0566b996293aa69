"""The scopes of a remedy: it takes over those of what it makes good, waits for others, and gives them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import states
from tests.engine.remedy.asking import BY, ask, of
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import people
from workflows.engine.remedy import RemedyBody, remedy
from workflows.models import Effect, Run, ScopeHold

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_remedy_takes_over_the_scope_of_what_it_makes_good_and_gives_it_back(world: World, stuck: Run) -> None:
    charge = of(stuck, "charge")
    made = remedy(
        stuck.id,
        RemedyBody(tool="t.charge", arguments={"amount": 1}, makes_good=charge.id),
        by=BY,
        why="charged twice",
    )[0]
    drain_once(slots=8)
    assert states(stuck)["remedy-1 remedy"] == "verified present", "it waited for what it makes good"
    assert made.scopes == charge.scopes
    assert ScopeHold.objects.get(scope="charges:one").effect_id == charge.id


def test_a_remedy_of_what_is_settled_leaves_its_scope_to_others(world: World, over: Run) -> None:
    made = ask(over, "t.charge", of=of(over, "charge"))
    drain_once(slots=8)
    assert (Effect.objects.get(id=made.id).state, made.scopes) == ("verified", ["charges:one"])
    assert not ScopeHold.objects.exists()


def test_a_remedy_that_waited_for_more_than_what_it_makes_good_holds_goes_once_that_is_free(
    world: World, stuck: Run, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.other", scopes=["charges:two"])
    tool("t.both", scopes=["charges:one", "charges:two"], undo=False)
    world.script("t.other", "execute", "lost_after")
    world.script("t.other", "look", "several", "well")
    other = run_through(workflow("t.other"))
    made = ask(stuck, "t.both", of=of(stuck, "charge"))
    drain_once(slots=8)
    assert Effect.objects.get(id=made.id).reason == "order"
    people.look_again(of(other, "other").id, by=BY, why="is one left?")
    drain_once(slots=8)
    assert Effect.objects.get(id=made.id).state == "verified"


def test_a_remedy_asks_the_world_first_where_its_key_is_the_worlds_own(world: World, over: Run, tool: Make) -> None:
    tool("t.note", by="natural_key", undo=False)
    world.script("t.note", "look", "found")
    before = len(world.sends)
    ask(over, "t.note")
    drain_once(slots=8)
    assert (states(over)["remedy-1 remedy"], len(world.sends)) == ("verified present", before)
