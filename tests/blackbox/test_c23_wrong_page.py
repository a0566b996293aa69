"""C19, C23: a right status with the wrong page, a refusal inside a 200, and redirects that would change the request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.world.provider import Provider


@pytest.fixture
def elsewhere() -> Iterator[Provider]:
    """Another host that nobody meant to call."""
    with Provider() as provider:
        yield provider


@pytest.mark.parametrize("book", ["before", "never"])
def test_a_wrong_page_is_looked_at_and_the_object_is_one(story: Story, book: str) -> None:
    story.apply(manifests.one_step())
    runs = {}
    for answer in ("html200", "wrong_type", "error200"):
        story.world.script(method="POST", containing=f"{answer}@", answer=answer, book=book)
        runs[answer] = story.agent.start(email=f"{answer}@acme.example")
    story.settle()
    sends = ["unknown"] if book == "before" else ["unknown", "acknowledged"]
    for answer, run in runs.items():
        truth = story.now(run)
        assert truth.outcomes("contact forward") == sends, f"{answer} was taken for a yes"
        assert (truth.state, truth.run["clean"], truth.made["contacts"]) == ("completed", True, 1), answer


def test_a_manifest_that_believes_any_200_is_found_out_by_the_look(story: Story) -> None:
    loose = manifests.tool("crm.contact", "contacts", acknowledged="status in [200, 201]", result="{}")
    story.apply(manifests.one_step(loose))
    story.world.script(method="POST", answer="error200", book="never")
    truth = story.truth(story.agent.start())
    assert truth.effects == {"contact forward": "stuck nothing"}, "it said yes, and nothing is there"
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("stuck", 0, 1)


def test_a_refusal_inside_a_200_is_a_refusal_where_the_manifest_says_so(story: Story) -> None:
    refused = 'refused: "status == 200 && has(body.ok) && !body.ok"'
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", execute=refused)))
    story.world.script(method="POST", answer="error200")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], truth.outcomes("contact forward")) == ("failed", 0, ["refused"])


def test_a_redirected_act_is_never_followed(story: Story, elsewhere: Provider) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", retry="{attempts: 2, first: 10ms}")))
    runs = {}
    for status, to in (
        (301, "/elsewhere"),
        *((status, f"{elsewhere.url}/contacts") for status in (302, 303, 307, 308)),
    ):
        story.world.script(
            method="POST", containing=f"n{status}@", answer="redirect", status=status, location=to, times=None
        )
        runs[status] = story.agent.start(email=f"n{status}@acme.example")
    story.settle()
    assert elsewhere.wire() == [], "the request, and its secrets, went to another host"
    assert {w.target.partition("?")[0] for w in story.world.wire()} == {"/contacts"}
    for status, run in runs.items():
        truth = story.now(run)
        assert (truth.state, truth.effects) == ("failed", {"contact forward": "failed nothing"}), status


@pytest.mark.parametrize("status", [302, 303])
def test_a_redirect_after_the_booking_is_looked_at_and_the_object_is_one(story: Story, status: int) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="redirect", status=status, location="/login", book="before")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_a_look_that_is_redirected_or_sees_a_wrong_page_proves_nothing(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", answer="redirect", status=302, location="/contacts?reference=other")
    story.world.script(method="GET", answer="html200")
    truth = story.truth(story.agent.start())
    looks = truth.details["contact forward"]["looks"]
    assert [look["verdict"] for look in looks[:2]] == ["inconclusive", "inconclusive"]
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)
