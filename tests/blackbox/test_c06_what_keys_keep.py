"""C06: what a provider keeps under a key differs, and the manifest says what this one does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.truth import Truth

SAYS = 'in_flight: "status == 409", mismatch: "status == 422", marker: Idempotent-Replayed'
BLIND: dict[str, Any] = {"verify": None, "compensate": None, "effect_class": "irreversible", "observability": "none"}


def keyed(**fields: str) -> str:
    said = ", ".join([SAYS, *(f"{name}: {value}" for name, value in fields.items())])
    return f"{{by: native_key, retention: 1h, {said}}}"


def told(story: Story, tool: str) -> Truth:
    story.apply(manifests.one_step(tool))
    return story.truth(story.agent.start())


@pytest.mark.parametrize("looks", [True, False], ids=["looked at", "blind"])
def test_a_request_that_is_still_worked_on_is_waited_for_under_the_same_key(story: Story, looks: bool) -> None:
    """The first is slow and given up; the second is told that it is in flight; the third gets the kept answer."""
    tool = manifests.tool("crm.contact", "contacts", by=keyed(), timeout="300ms", **({} if looks else BLIND))
    story.apply(manifests.one_step(tool))
    gate = story.world.hold("/contacts", where="booked")
    story.world.script(method="POST", book="after")
    story.world.script(method="POST", keys="conflict", times=None)
    run = story.agent.start()
    story.until(lambda: len(story.world.wire("POST")) >= 3)
    gate.release()
    truth = story.truth(run)
    ends = truth.outcomes("contact forward")
    assert ends[:2] == ["unknown", "in_flight"], truth.details["contact forward"]["attempts"]
    assert truth.details["contact forward"]["attempts"][1]["number"] == 2
    assert truth.run["effects"][0]["attempts"] <= 2, "asking used up a send"
    assert len({w.key for w in story.world.wire("POST")}) == 1
    assert (truth.run["state"], truth.made["contacts"]) == ("completed", 1)
    if not looks:
        last = truth.details["contact forward"]["attempts"][-1]
        assert (ends[-1], last["evidence"]["replayed"]) == ("acknowledged", True)
        assert last["evidence"]["answer"]["headers"]["idempotent-replayed"] == "true"


def test_a_failure_kept_under_the_key_after_a_booking_is_found_by_the_look(story: Story) -> None:
    """Blind, the same 500 would come for ever: after its replay nothing is sent, and a person is asked."""
    tool = manifests.tool("crm.contact", "contacts", by=keyed(), retry="{attempts: 9, first: 5ms}", **BLIND)
    story.world.script(method="POST", answer="500", book="before", keys="executed")
    truth = told(story, tool)
    assert truth.outcomes("contact forward") == ["unknown", "unknown"]
    assert truth.details["contact forward"]["attempts"][1]["evidence"]["replayed"] is True
    assert (truth.effects, truth.made["contacts"]) == ({"contact forward": "stuck unknown"}, 1)
    assert truth.details["contact forward"]["reason"] == "cannot_know"


def test_a_replayed_failure_that_proves_to_have_done_nothing_has_failed(story: Story) -> None:
    tool = manifests.tool("crm.contact", "contacts", by=keyed(), asking=manifests.NO_LAG, late="10ms")
    story.world.script(method="POST", answer="500", keys="executed")
    truth = told(story, tool)
    assert truth.outcomes("contact forward") == ["unknown", "unknown"]
    assert truth.run["effects"][0]["reason"] == "replayed"
    assert (truth.state, truth.made.total()) == ("failed", 0)


@pytest.mark.parametrize("looks", [True, False], ids=["looked at", "blind"])
def test_a_key_that_is_kept_only_after_a_yes_is_never_relied_on_after_a_failure(story: Story, looks: bool) -> None:
    tool = manifests.tool("crm.contact", "contacts", by=keyed(keeps="success"), **({} if looks else BLIND))
    story.world.script(method="POST", answer="500", book="before", keys="success")
    truth = told(story, tool)
    assert truth.outcomes("contact forward") == ["unknown"]
    assert truth.made["contacts"] == 1
    assert truth.state == ("completed" if looks else "stuck")


@pytest.mark.parametrize("looks", [True, False], ids=["looked at", "blind"])
def test_a_mismatch_is_a_hard_stop_and_no_other_key_is_made(story: Story, looks: bool) -> None:
    clock = '{email: "${ args.email }", reference: "${ key }", at: "${ now }"}'
    tool = manifests.tool("crm.contact", "contacts", by=keyed(), json=clock, **({} if looks else BLIND))
    story.world.script(method="POST", answer="cut", book="before" if not looks else "never", keys="honoured")
    story.world.script(method="POST", answer="422", times=None) if looks else None
    truth = told(story, tool)
    assert truth.outcomes("contact forward")[-1] == "refused"
    assert truth.run["effects"][0]["reason"] == "key_mismatch"
    assert len({w.key for w in story.world.wire("POST")}) == 1
    assert (truth.state, truth.effects) == (
        "stuck",
        {"contact forward": "stuck nothing" if looks else "stuck unknown"},
    )
    assert "our key came with another request before" in truth.cases[0]["sentence"]


def test_a_mismatch_after_our_own_booking_is_settled_by_the_look(story: Story) -> None:
    """The retry was called another request by mistake; what stands is ours and as asked."""
    tool = manifests.tool("crm.contact", "contacts", by=keyed(), asking=manifests.NO_LAG)
    story.world.script(method="POST", answer="cut", book="before")
    story.world.script(method="GET", read="missing", times=1)
    story.world.script(method="POST", answer="422", times=1)
    truth = told(story, tool)
    assert truth.outcomes("contact forward") == ["unknown", "refused"]
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


@pytest.mark.parametrize("status", ["404", "422"])
def test_a_refusal_is_final_whatever_is_kept(story: Story, status: str) -> None:
    tool = manifests.tool("crm.contact", "contacts", by="{by: native_key, retention: 1h, keeps: all}")
    story.world.script(method="POST", answer=status, times=None)
    truth = told(story, tool)
    assert (truth.state, len(story.world.wire("POST"))) == ("failed", 1)
