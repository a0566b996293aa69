"""What came of each case of a batch, as it is counted: by what its effects are now, never by what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.bulk import running
from repairs.models.batch import BatchAct
from repairs.words.batch import CameFacts, came_of_sending
from repairs.words.marks import CAME
from tests.repairs.batches.making import HELD, confirmed, figures, of_cause
from workflows.authority import stops
from workflows.drain import drain_once

Make = Callable[..., Any]
SEEN, SAID, GONE = ("verified", ""), ("acknowledged", ""), ("cancelled", "")


@pytest.mark.parametrize(
    ("states", "live", "turning", "undoing", "word"),
    [
        ([SEEN, SEEN], False, False, True, "undone, verified"),
        ([SEEN], False, False, False, "done, verified"),
        ([SEEN, SAID], False, False, True, "undone, not verifiable"),
        ([SEEN, ("stuck", "refused")], True, False, True, "stuck again"),
        ([("stuck", "policy"), ("blocked", "approval")], True, False, True, "stuck again"),
        ([SEEN, ("blocked", "approval")], True, False, True, "waits for approval"),
        ([("blocked", "budget")], True, False, True, "held up"),
        ([("blocked", "hold"), ("dispatched", "")], True, True, True, "held up"),
        ([("blocked", "rate")], True, True, True, "under way"),
        ([SEEN, ("ready", "")], True, False, True, "under way"),
        ([], True, True, True, "under way"),
        ([SEEN], True, False, True, "still open"),
        ([], False, False, True, "nothing to undo"),
        ([SEEN, GONE], False, False, True, "ended otherwise"),
    ],
)
def test_something_else_is_said_to_have_come_of_it_than_its_effects_show(
    states: list[tuple[str, str]], live: bool, turning: bool, undoing: bool, word: str
) -> None:
    facts = CameFacts(live=live, turning=turning, states=tuple(states), undoing=undoing)
    assert came_of_sending(facts) == word
    assert word in CAME


@pytest.mark.django_db(transaction=True)
def test_a_stop_holds_up_what_many_cases_asked_for_as_it_does_for_one(
    held: Make, repairer: User, second: User, world: Any
) -> None:
    held(2)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    stop = stops.freeze("tool", "audience.add", by="person:operator", why="they restore").stop
    before = len(world.sends)
    confirmed(batch, repairer, second)
    running.run()
    drain_once()
    assert figures(batch) == {"held up": 2}
    assert len(world.sends) == before
    stops.lift(stop.id, by="person:another", why="it is back")
    drain_once()
    assert figures(batch) == {"undone, verified": 2}
