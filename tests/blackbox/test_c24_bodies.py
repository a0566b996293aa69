"""C24: answers that are cut, short, packed or endless, each after the booking: unknown, looked at, and one object."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

MEGABYTE = 1024 * 1024
BROKEN: list[dict[str, Any]] = [
    {"answer": "cut"},
    {"answer": "close"},
    {"answer": "short"},
    {"answer": "cut_chunked"},
    {"answer": "gzip_bomb", "size": 32 * MEGABYTE},
    {"answer": "huge", "size": 8 * MEGABYTE},
    {"answer": "500"},
    {"answer": "503"},
]


@pytest.mark.parametrize("by", [manifests.HONOURED, manifests.KEYLESS], ids=["keys honoured", "no keys"])
def test_a_broken_answer_after_the_booking_leaves_one_object_and_a_verified_effect(story: Story, by: str) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", by=by)))
    runs = {}
    for how in BROKEN:
        email = f"{how['answer']}@acme.example"
        story.world.script(method="POST", containing=email, book="before", keys="ignored", **how)
        runs[how["answer"]] = story.agent.start(email=email)
    story.settle()
    for answer, run in runs.items():
        truth = story.now(run)
        assert truth.outcomes("contact forward") == ["unknown"], f"{answer}: JSON out of a broken transfer was believed"
        assert (truth.state, truth.run["clean"], truth.made["contacts"]) == ("completed", True, 1), answer
    assert len(story.world.wire("POST")) == len(BROKEN)


def test_an_answer_that_drips_for_ever_ends_at_the_timeout_of_the_whole_call(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", timeout="500ms")))
    story.world.script(method="POST", answer="drip")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward")[0] == "unknown"
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_look_whose_answer_is_broken_proves_neither_presence_nor_absence(story: Story) -> None:
    verify = manifests.VERIFY.replace("?reference=${ key }", "?reference=${ key }&email=${ args.email }")
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", verify=verify, asking=manifests.NO_LAG)))
    runs = {}
    for how in [*BROKEN, {"answer": "html200"}]:
        story.world.script(method="POST", containing=f"{how['answer']}@", answer="cut")
        story.world.script(method="GET", containing=f"email={how['answer']}%40", **how)
        runs[how["answer"]] = story.agent.start(email=f"{how['answer']}@acme.example")
    story.settle()
    for answer, run in runs.items():
        truth = story.now(run)
        looks = [look["verdict"] for look in truth.details["contact forward"]["looks"]]
        assert (looks[0], looks[-1]) == ("inconclusive", "found"), answer
        assert (truth.state, truth.made["contacts"], truth.outcomes("contact forward")) == (
            "completed",
            1,
            ["unknown"],
        ), answer


def test_what_is_kept_of_an_endless_answer_is_bounded(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="huge", size=8 * MEGABYTE, book="before")
    truth = story.truth(story.agent.start())
    assert len(str(truth.details["contact forward"]["attempts"][0]["evidence"])) < 20_000
