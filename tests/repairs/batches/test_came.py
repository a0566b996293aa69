"""What came of each case of a batch, as it is counted: by what its effects are now, never by what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.bulk import running
from repairs.models import Case
from repairs.models.batch import BatchAct
from repairs.words.batch import CameFacts, came_of_sending
from repairs.words.marks import CAME
from tests.authority.asking import activate, approve
from tests.repairs.batches.making import HELD, confirmed, figures, of_cause, text_of
from workflows.authority import approvals, stops
from workflows.drain import drain_once
from workflows.errors import Denied
from workflows.models import Approval

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


@pytest.mark.django_db(transaction=True)
def test_an_undoing_of_a_batch_leaves_without_the_approval_that_policy_asks_for_or_not_with_it(
    held: Make, repairer: User, second: User, person: Make, browse: Make, world: Any
) -> None:
    activate(
        "{name: undoing, when: \"act.kind == 'compensation' && tool.name == 'crm.lead'\", then: {ask: {}}}",
        "{name: rest, when: 'true', then: allow}",
    )
    granted, refused = held(2)
    repairer.groups.add(*second.groups.all())
    batch, before = of_cause(repairer, BatchAct.TURN_BACK, HELD), len(world.sends)
    confirmed(batch, repairer, second)
    running.run()
    drain_once()
    assert figures(batch) == {"waits for approval": 2}
    assert {tool for tool, *_ in world.sends[before:]} == {"audience.add"}, "what nobody is asked about goes"
    assert "2 of 2 met: 2 waits for approval." in text_of(browse(repairer).get(f"/repairs/batches/{batch.id}/"))
    asks = {approval.run_id: approval for approval in Approval.objects.filter(state="asked")}
    with pytest.raises(Denied, match="another person"):
        approve(asks[granted.run_id], repairer)
    third = person("third", "approver")
    approve(asks[granted.run_id], third)
    approvals.refuse(asks[refused.run_id].id, by=third, why="they keep it", seen_digest=asks[refused.run_id].digest)
    drain_once()
    assert figures(batch) == {"undone, verified": 1, "stuck again": 1}
    assert [key for tool, _, key in world.sends[before:] if tool == "crm.lead"] == [asks[granted.run_id].effect.key]
    states = {case.id: case.state for case in Case.objects.all()}
    assert states == {granted.id: "resolved", refused.id: "open"}
