"""Undoings that say yes: to another object, to nothing, to a part. Each is looked at, none is believed."""

from __future__ import annotations

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story


def unwound(story: Story, **plan: object) -> str:
    """A run that turns back over one member; its undoing goes as planned."""
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", **plan)
    run = story.agent.start()
    story.settle()
    return run


def test_a_yes_to_another_object_leaves_ours_standing_and_needs_a_person(story: Story) -> None:
    story.world.plant("members", email="somebody@else.example", reference="theirs")
    run = story.agent.get(f"runs/{unwound(story, undo='wrong')}")
    effects = {f"{e['step']} {e['kind']}": e for e in run["effects"]}
    assert (run["state"], effects["member compensation"]["reason"]) == ("stuck", "not_undone")
    assert effects["member forward"]["world"] == "present"
    assert len(story.world.wire("DELETE", "/members")) == 1, "it was sent once more, at whose cost?"
    assert run["residue"], "what stands isn't stated"


def test_a_yes_to_a_part_is_no_undoing(story: Story) -> None:
    truth = story.now(unwound(story, undo="partial"))
    assert (truth.state, truth.details["member compensation"]["reason"]) == ("stuck", "not_undone")
    assert truth.standing["members"] == 1
    assert len(story.world.wire("DELETE", "/members")) == 1


def test_a_closed_window_is_a_refusal_for_good(story: Story) -> None:
    undoing = "refused: \"status == 409 && body.code == 'window_closed'\""
    story.apply(manifests.three_steps(member=manifests.tool("audience.member", "members", undoing=undoing)))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", undo="closed", times=None)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.details["member compensation"]["reason"]) == ("stuck", "refused")
    assert len(story.world.wire("DELETE", "/members")) == 1


@pytest.mark.parametrize("undo", ["blank", "works"])
def test_a_yes_where_nothing_is_there_is_looked_at_until_nothing_can_come_any_more(story: Story, undo: str) -> None:
    """The booking was lost and lands late: a yes to its undoing proves nothing of what comes after."""
    late = manifests.tool("audience.member", "members", by=manifests.KEYLESS, late="1500ms", asking=manifests.NO_LAG)
    story.apply(manifests.three_steps(member=late))
    story.world.script(method="POST", path="/members", answer="cut", book="late", late=0.5)
    story.world.script(method="DELETE", path="/members", undo=undo, times=None)
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing.total()) == ("compensated", 0)


def test_what_comes_back_after_it_was_seen_gone_reopens_the_run(story: Story) -> None:
    member = manifests.tool("audience.member", "members", undoing="recheck: [1s]")
    story.apply(manifests.three_steps(member=member))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", undo="reverses", late=0.5)
    run = story.agent.start()
    story.until(lambda: story.agent.get(f"runs/{run}")["state"] == "compensated")
    truth = story.truth(run)
    assert (truth.state, truth.details["member compensation"]["state"]) == ("stuck", "stuck")
    assert truth.standing["members"] == 1
    assert len(story.world.wire("DELETE", "/members")) == 1, "it was undone again by itself"


def test_an_answer_of_many_statuses_is_no_answer(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="207")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["unknown"]
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_permission_to_read_that_is_lost_proves_nothing(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", read="forbidden", times=2)
    truth = story.truth(story.agent.start())
    assert [x["verdict"] for x in truth.details["contact forward"]["looks"]] == [
        "inconclusive",
        "inconclusive",
        "found",
    ]
    assert (truth.state, len(story.world.wire("POST"))) == ("completed", 1)
