"""C25: asked to wait in whatever form; waiting costs no doubt, and nothing waits for ever."""

from __future__ import annotations

import datetime as dt

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

NOW_OR_NONSENSE = [
    "",
    "0",
    "0.05",
    "-3",
    "+0",
    "soon",
    "0x1",
    "nan",
    "Wed, 21 Oct 2015 07:28:00 GMT",
    "1e-3",
    "0, 0",
    " 0 ",
]


def test_a_429_is_tried_again_with_the_same_key_whatever_it_asks_and_leaves_no_doubt(story: Story) -> None:
    story.apply(manifests.one_step())
    runs = {}
    for n, retry_after in enumerate(NOW_OR_NONSENSE):
        story.world.script(method="POST", containing=f"n{n}@", answer="429", retry_after=retry_after)
        runs[retry_after] = story.agent.start(email=f"n{n}@acme.example")
    story.settle()
    for retry_after, run in runs.items():
        truth = story.now(run)
        assert truth.outcomes("contact forward") == ["temporary", "acknowledged"], retry_after
        assert (truth.state, truth.made["contacts"]) == ("completed", 1), retry_after
    assert len({w.key for w in story.world.wire("POST")}) == len(NOW_OR_NONSENSE)


def test_a_wait_that_was_asked_for_is_kept(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="429", retry_after="1")
    truth = story.truth(story.agent.start())
    first, second = (dt.datetime.fromisoformat(w.at) for w in story.world.wire("POST"))
    assert (second - first).total_seconds() >= 1.0
    assert truth.state == "completed"


def test_a_wait_longer_than_the_time_for_trying_again_ends_it(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="429", retry_after="99999999")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.effects) == ("failed", {"contact forward": "failed nothing"})


def test_a_provider_that_is_busy_for_ever_is_given_up_after_the_declared_sends(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="429", times=None)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["temporary"] * 4
    assert (truth.state, len(story.world.wire("POST"))) == ("failed", 4)


def test_a_503_is_unknown_and_looked_at_before_it_is_sent_again(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="503", retry_after="0")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["unknown", "acknowledged"]
    looks = truth.details["contact forward"]["looks"]
    assert [x["verdict"] for x in looks if x["counted"]] == ["absent", "found"]
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_503_that_the_manifest_declares_temporary_is_believed(story: Story) -> None:
    story.apply(
        manifests.one_step(manifests.tool("crm.contact", "contacts", execute='temporary: "status in [429, 503]"'))
    )
    story.world.script(method="POST", answer="503", retry_after="0")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["temporary", "acknowledged"]
    assert truth.made["contacts"] == 1


def test_a_429_after_a_lost_answer_does_not_settle_what_the_lost_one_did(story: Story) -> None:
    """The first send booked; the second was refused as too many. The doubt about the first is looked at."""
    tool = manifests.tool("crm.contact", "contacts", asking=manifests.NO_LAG, late="1m")
    story.apply(manifests.one_step(tool))
    story.world.script(method="POST", answer="cut", keys="ignored")
    story.world.script(method="POST", answer="429", keys="ignored", times=None)
    story.world.script(method="GET", read="missing", times=1)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") in (["unknown"], ["unknown", "temporary"])
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_look_that_is_told_to_wait_proves_nothing_and_is_made_again(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", answer="429", retry_after="0", times=2)
    story.world.script(method="GET", answer="503", times=1)
    truth = story.truth(story.agent.start())
    looks = truth.details["contact forward"]["looks"]
    assert [(x["verdict"], x["reached"]) for x in looks[:3]] == [("inconclusive", False)] * 3
    assert (truth.state, len(story.world.wire("POST"))) == ("completed", 1)
