"""C20: a batch is one call with N effects and N outcomes. What the answer doesn't name is unknown; others are not."""

from __future__ import annotations

import json
from collections import Counter

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.truth import Truth

BATCH = """
    batch: {max: 8, json: {items: "${ items }"}, answers: "body.items", by: "item.reference",
    refused: "body.rolled_back == true"}
    temporary: "item.status in [429, 503]"
    refused: "item.status == 400"
"""
BULK = manifests.tool(
    "crm.contact",
    "contacts",
    by=manifests.KEYLESS,
    headers="{}",
    acknowledged="item.status == 201 && has(item.id)",
    result='{id: "${ item.id }"}',
    execute=BATCH,
).replace('/contacts"\n      headers', '/contacts/bulk"\n      headers')


def at_once(story: Story, count: int) -> list[str]:
    """So many runs, started before anybody works."""
    return [story.agent.start(email=f"n{n}@acme.example") for n in range(count)]


def sends(truth: Truth) -> list[str]:
    return truth.outcomes("contact forward")


def batches(story: Story) -> list[int]:
    """How many items each request carried."""
    return [len(w.body["items"]) for w in story.world.wire("POST")]


def test_each_effect_of_a_batch_has_its_own_outcome_and_only_the_failed_is_sent_again(story: Story) -> None:
    story.apply(manifests.one_step(BULK))
    story.world.script(method="POST", items="201 503 400 201 -")
    runs = at_once(story, 5)
    story.settle()
    told = [story.now(run) for run in runs]
    by_item = {w["reference"]: n for n, w in enumerate(story.world.wire("POST")[0].body["items"])}
    told.sort(key=lambda truth: by_item[truth.key("contact forward")])
    assert [sends(t) for t in told] == [
        ["acknowledged"],
        ["temporary", "acknowledged"],
        ["refused"],
        ["acknowledged"],
        ["unknown"],
    ]
    assert [t.state for t in told] == ["completed", "completed", "failed", "completed", "completed"]
    assert batches(story) == [5, 1], "others than the failed one went out again"
    again = story.world.wire("POST")[1].body["items"][0]
    assert again["reference"] == told[1].key("contact forward"), "the item came under another key"
    assert sum((t.made for t in told), Counter()) == Counter(contacts=4)
    assert story.world.wire("DELETE") == []


def test_what_each_attempt_shows_of_a_batch_is_its_own(story: Story) -> None:
    story.apply(manifests.one_step(BULK))
    runs = at_once(story, 3)
    story.settle()
    assert batches(story) == [3]
    for n, run in enumerate(runs):
        (attempt,) = story.now(run).details["contact forward"]["attempts"]
        shown = json.dumps(attempt)
        assert attempt["evidence"]["items"] == 3
        assert story.now(run).key("contact forward") in attempt["evidence"]["answer"]["text"]
        assert not [m for m in range(3) if m != n and story.now(runs[m]).key("contact forward") in shown]


def test_a_batch_that_was_rolled_back_did_nothing_and_each_is_tried_alone(story: Story) -> None:
    """One of them spoils it, whatever batch it is in; the others must not fail with it."""
    story.apply(manifests.one_step(BULK))
    rolled = json.dumps({"rolled_back": True, "error": "one of them isn't valid", "items": []})
    story.world.script(method="POST", containing="n1@", answer="raw", text=rolled, book="never", times=None)
    runs = at_once(story, 3)
    story.settle()
    told = [story.now(run) for run in runs]
    assert [sends(t) for t in told] == [
        ["temporary", "acknowledged"],
        ["temporary", "refused"],
        ["temporary", "acknowledged"],
    ]
    assert [t.state for t in told] == ["completed", "failed", "completed"]
    assert batches(story)[0] == 3
    assert set(batches(story)[1:]) == {1}


def test_a_batch_without_an_answer_is_unknown_for_each_and_found_by_each_look(story: Story) -> None:
    story.apply(manifests.one_step(BULK))
    story.world.script(method="POST", answer="cut")
    runs = at_once(story, 4)
    story.settle()
    told = [story.now(run) for run in runs]
    assert [sends(t) for t in told] == [["unknown"]] * 4
    assert [(t.state, t.made["contacts"]) for t in told] == [("completed", 1)] * 4
    assert batches(story) == [4]


def test_only_what_was_done_of_a_batch_is_undone(story: Story) -> None:
    steps = [manifests.step("contact", "crm.contact"), manifests.step("booking", "calendar.booking")]
    booking = manifests.tool("calendar.booking", "bookings")
    story.apply(manifests.manifest([BULK, booking], [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/contacts", items="201 400")
    story.world.script(method="POST", path="/bookings", answer="422", times=None)
    runs = at_once(story, 2)
    story.settle()
    states = {story.now(run).state for run in runs}
    assert states == {"compensated", "failed"}
    assert len(story.world.wire("DELETE")) == 1
    assert story.world.objects("contacts") == []
