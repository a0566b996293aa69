"""C03: which phase of the call failed decides whether it may be repeated, and whether it counts."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses: bound, so that nobody else gets it, and never listened on."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port


def test_a_refused_connection_is_tried_again_and_does_not_count(
    story: Story, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.apply(
        manifests.one_step(
            manifests.tool(
                "crm.contact",
                "contacts",
                by=manifests.KEYLESS,
                retry="{attempts: 1, first: 10ms, max: 20ms, within: 5m}",
            )
        )
    )
    monkeypatch.setenv("WORLD_URL", f"http://127.0.0.1:{closed_port}")
    run = story.agent.start()
    story.until(lambda: len(sends(story, run)) > 3)
    effect = story.agent.get(f"runs/{run}")["effects"][0]
    assert effect["attempts"] <= 1
    monkeypatch.setenv("WORLD_URL", story.world.url)
    truth = story.truth(run)
    outcomes = truth.outcomes("contact forward")
    assert (truth.state, truth.made["contacts"], outcomes[-1]) == ("completed", 1, "acknowledged")
    assert set(outcomes[:-1]) == {"not_sent"}
    assert truth.details["contact forward"]["attempts"][-1]["number"] == 1


def sends(story: Story, run: str) -> list[object]:
    effects = story.agent.get(f"runs/{run}")["effects"]
    return story.agent.get(f"effects/{effects[0]['id']}")["attempts"] if effects else []


def test_a_connection_that_is_accepted_and_reset_ends_with_exactly_one_object(story: Story) -> None:
    """Where the reset is met before a byte was handed over nothing was sent; where after, nobody knows, and it is
    looked at before the second send."""
    story.apply(manifests.one_step())
    story.world.slam()
    truth = story.truth(story.agent.start())
    first, last = truth.outcomes("contact forward")
    assert (first in ("unknown", "not_sent"), last) == (True, "acknowledged")
    looks = [x["verdict"] for x in truth.details["contact forward"]["looks"] if x["counted"]]
    assert looks == (["absent", "found"] if first == "unknown" else ["found"])
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


@pytest.mark.parametrize("answer", ["cut", "close"])
def test_a_request_that_was_read_and_never_answered_ends_with_exactly_one_object(story: Story, answer: str) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", by=manifests.KEYLESS)))
    story.world.script(method="POST", answer=answer, keys="ignored")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["unknown"]
    assert (truth.state, truth.made["contacts"], truth.run["clean"]) == ("completed", 1, True)


def test_a_request_without_an_answer_ends_at_its_timeout_with_exactly_one_object(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", timeout="300ms")))
    story.world.script(method="POST", answer="silence")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward")[0] == "unknown"
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_request_that_was_read_and_did_nothing_is_sent_again_with_its_key_once_a_look_has_shown_that(
    story: Story,
) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", by=manifests.KEYLESS)))
    story.world.script(method="POST", keys="ignored", times=None)
    story.world.script(method="POST", answer="cut", book="never")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["unknown", "acknowledged"]
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)
    methods = [w.method for w in story.world.wire()]
    assert methods[0] == "POST"
    assert methods.index("GET") < len(methods) - 1 - methods[::-1].index("POST"), "a second send without a look"
