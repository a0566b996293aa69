"""C20: a batch is one call with N effects and N outcomes. What the answer doesn't name is unknown; others are not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.truth import Truth

BATCH = """
    batch: {max: 8, json: {items: "${ items }"}, answers: "body.items", by: "item.reference",
    refused: "body.rolled_back == true"}
    temporary: "item.status in [429, 503]"
    refused: "item.status == 400"
"""


def bulk(by: str = manifests.KEYLESS, **fields: Any) -> str:
    return manifests.tool(
        "crm.contact",
        "contacts",
        by=by,
        headers="{}",
        acknowledged="item.status == 201 && has(item.id)",
        result='{id: "${ item.id }"}',
        **{"execute": BATCH, **fields},
    ).replace('/contacts"\n      headers', '/contacts/bulk"\n      headers')


BULK = bulk()
PLAIN = BATCH.replace('refused: "body.rolled_back == true"}', "}")  # what is refused as a whole by default


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


@pytest.mark.parametrize(
    "answer",
    [{"items": "400 400 400"}, {"items": "500 500 500"}, {"answer": "raw", "text": '{"items": "n0@ n1@ n2@"}'}],
    ids=["refused", "unclear", "no list"],
)
def test_why_one_of_a_batch_failed_tells_nothing_of_the_others(story: Story, answer: dict[str, str]) -> None:
    story.apply(manifests.one_step(BULK))
    story.world.script(method="POST", **answer)
    runs = at_once(story, 3)
    story.settle()
    told = [story.now(run) for run in runs]
    for n, truth in enumerate(told):
        first = truth.details["contact forward"]["attempts"][0]
        assert first["reason"].startswith("status 200")
        shown = json.dumps(first)
        assert not [m for m in range(3) if m != n and (told[m].key("contact forward") in shown or f"n{m}@" in shown)]


@pytest.mark.parametrize(
    ("by", "outcome"),
    [
        (manifests.HONOURED, "unknown"),
        ('{by: native_key, retention: 1h, in_flight: "status == 409"}', "in_flight"),
    ],
)
def test_a_batch_whose_keys_are_still_worked_on_was_not_refused(story: Story, by: str, outcome: str) -> None:
    story.apply(manifests.one_step(bulk(by, execute=PLAIN)))
    story.world.script(method="POST", answer="raw", status=409, text='{"error": "in progress"}', book="before")
    runs = at_once(story, 3)
    story.settle()
    told = [story.now(run) for run in runs]
    assert [sends(t) for t in told] == [[outcome]] * 3
    assert [(t.state, t.made["contacts"]) for t in told] == [("completed", 1)] * 3


def test_one_of_a_batch_whose_key_came_with_another_request_is_a_hard_stop(story: Story) -> None:
    by = '{by: native_key, retention: 1h, mismatch: "status == 422"}'
    story.apply(manifests.one_step(bulk(by, execute=PLAIN)))
    story.world.script(method="POST", answer="422", times=None)
    truth = story.truth(at_once(story, 1)[0])
    assert truth.run["effects"][0]["reason"] == "key_mismatch"
    assert (truth.effects, batches(story)) == ({"contact forward": "stuck nothing"}, [1])


def test_no_amount_goes_out_in_a_batch_as_a_binary_float(story: Story) -> None:
    inexact = """{email: "${ args.email }", reference: "${ key }",
      amount: "${ args.email.startsWith('n1@') ? double(args.amount) / 100.0 : args.amount }"}"""
    value = "    value: {amount: '${ args.amount }', currency: EUR}\n    idempotency:"
    tool = bulk(json=inexact, arguments=manifests.ARGUMENTS.replace("[email]", "[email, amount]"))
    step = manifests.step("contact", "crm.contact", arguments='{email: "${ input.email }", amount: 8060}')
    plan = manifests.workflow("onboarding", step)
    story.apply(manifests.manifest([tool.replace("    idempotency:", value)], [plan]))
    runs = at_once(story, 3)
    story.settle()
    told = [story.now(run) for run in runs]
    assert [t.state for t in told] == ["completed", "failed", "completed"]
    assert {item["amount"] for w in story.world.wire("POST") for item in w.body["items"]} == {8060}


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
