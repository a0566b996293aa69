"""C19, C22: success is what the manifest says it looks like, over status, type and body; all else is unknown, no no."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

CHAT = manifests.tool(
    "crm.contact",
    "contacts",
    acknowledged="status == 200 && body.ok == true && size(body.ts) > 0",
    result='{id: "${ body.ts }"}',
    by=manifests.KEYLESS,
    execute="""
        temporary: "status == 429 || (status == 200 && body.ok == false && body.error == 'ratelimited')"
        refused: "status == 200 && body.ok == false && body.error in ['invalid_auth', 'channel_not_found']"
    """,
)
GRAPHQL = manifests.tool(
    "crm.contact",
    "contacts",
    acknowledged="status == 200 && size(body.data.create.contact.id) > 0",
    result='{id: "${ body.data.create.contact.id }"}',
    by=manifests.KEYLESS,
    asking=manifests.NO_LAG,
    late="10ms",
    execute="""
        temporary: "status == 200 && body.data == null && body.errors.exists(e, e.extensions.code == 'THROTTLED')"
        refused: "status == 200 && body.data.create.contact == null && size(body.data.create.userErrors) > 0"
    """,
)


def answers(story: Story, text: str, *, booked: bool = False, kind: str = "", **fields: Any) -> None:
    book = "before" if booked else "never"
    story.world.script(method="POST", answer="raw", text=text, content_type=kind, book=book, **fields)


@pytest.mark.parametrize(
    ("text", "kind", "outcome"),
    [
        ('{"ok": false, "error": "invalid_auth"}', "", "refused"),
        ('{"ok": false, "error": "ratelimited"}', "", "temporary"),
        ('{"ok": false, "error": "fatal_error"}', "", "unknown"),
        ("no_service", "text/plain", "unknown"),
        ("ok", "text/plain", "unknown"),
        ("", "", "unknown"),
        ('{"ok": "true", "ts": "1"}', "", "unknown"),
        ('{"ok": true}', "", "unknown"),
        ('{"ok": 1, "ts": "1"}', "", "unknown"),
        ('{"ok": true, "ts": null}', "", "unknown"),
        ('{"ok": true, "ts": "1"}', "", "acknowledged"),
    ],
)
def test_only_a_whole_yes_is_a_yes(story: Story, text: str, kind: str, outcome: str) -> None:
    """Booked, whatever was answered: what isn't a known answer is looked at, and the message is one."""
    story.apply(manifests.one_step(CHAT))
    known = outcome in ("refused", "temporary")
    answers(story, text, booked=not known, kind=kind)
    story.world.script(method="POST", answer="raw", text='{"ok": true, "ts": "2"}', times=None)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward")[0] == outcome
    assert truth.made["contacts"] == (0 if outcome == "refused" else 1)
    assert truth.state == ("failed" if outcome == "refused" else "completed")


CREATED: dict[str, Any] = {"create": {"contact": {"id": "c-1"}, "userErrors": []}}
REFUSED: dict[str, Any] = {"create": {"contact": None, "userErrors": [{"message": "taken"}]}}
NESTED = [{"message": "a field below couldn't be read", "path": ["create", "contact", "owner"]}]
THROTTLED = [{"message": "slow down", "extensions": {"code": "THROTTLED"}}]


@pytest.mark.parametrize(
    ("body", "booked", "sends", "state"),
    [
        ({"data": REFUSED}, False, ["refused"], "failed"),
        ({"data": {"create": None}, "errors": NESTED}, True, ["unknown"], "completed"),
        ({"data": {"create": {"contact": None, "userErrors": []}}, "errors": NESTED}, True, ["unknown"], "completed"),
        (
            {"data": {"create": {"contact": {"id": None}}}, "errors": NESTED},
            False,
            ["unknown", "acknowledged"],
            "completed",
        ),
        ({"data": None, "errors": NESTED}, False, ["unknown", "acknowledged"], "completed"),
        ({"data": CREATED, "errors": NESTED}, True, ["acknowledged"], "completed"),
        ({"data": None, "errors": THROTTLED}, False, ["temporary", "acknowledged"], "completed"),
    ],
    ids=[
        "refused in the payload",
        "payload null",
        "partly null",
        "its id null",
        "nothing ran",
        "yes, with a warning",
        "throttled",
    ],
)
def test_errors_beside_data_are_never_taken_for_a_plain_failure(
    story: Story, body: dict[str, Any], booked: bool, sends: list[str], state: str
) -> None:
    story.apply(manifests.one_step(GRAPHQL))
    answers(story, json.dumps(body), booked=booked)
    answers(story, json.dumps({"data": CREATED}), booked=True)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == sends
    assert (truth.state, truth.made["contacts"]) == (state, 0 if state == "failed" else 1)
    if "errors" in body:
        assert "errors" in truth.details["contact forward"]["attempts"][0]["evidence"]["answer"]["text"]
