"""C37: the request that was given up takes effect after all, after its undoing found nothing. It is found, and undone
once; and nobody is told before that all is well.

The provider's barrier parks the request; the manifest's `late` is far longer than the test needs to release it."""

from __future__ import annotations

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

LATE = "9s"
IMPATIENT = "250ms"

BY_REFERENCE = """
    compensate:
      method: DELETE
      url: "${ env.WORLD_URL }/contacts?reference=${ forward.key }"
      headers: {Idempotency-Key: "${ key }"}
      timeout: 10s
      verify: {url: "${ env.WORLD_URL }/contacts?reference=${ forward.key }",
               found: "status == 200 && size(body.items) == 0", absent: "status == 200 && size(body.items) > 0",
               settle: 100ms, every: 30ms, looks: 3, within: 2m}
"""


def two_branches(contact: str) -> str:
    """contact and booking side by side: one can be refused while the other is parked."""
    steps = [
        manifests.step("contact", "crm.contact", after="[]"),
        manifests.step("booking", "calendar.booking", after="[]"),
    ]
    return manifests.manifest([contact, manifests.BOOKING], [manifests.workflow("onboarding", *steps)])


@pytest.mark.parametrize("by", [manifests.HONOURED, manifests.KEYLESS], ids=["keys honoured", "no keys"])
def test_a_parked_request_that_books_after_the_run_turned_back_is_found_and_undone_once(story: Story, by: str) -> None:
    story.apply(two_branches(manifests.tool("crm.contact", "contacts", by=by, timeout=IMPATIENT, late=LATE)))
    story.world.script(method="POST", path="/bookings", answer="422", times=None)
    gate = story.world.hold("/contacts", times=1)
    run = story.agent.start()
    story.until(lambda: counted_misses(story, run) or len(story.world.wire("GET", "/contacts")) > 8)
    early = story.now(run)
    assert (early.run["phase"], early.run["clean"]) == ("unwinding", None), "it ended while its request may still book"
    gate.release()
    truth = story.truth(run)
    assert (truth.standing.total(), truth.made["contacts"]) == (0, 1)
    assert truth.effects["contact forward"] == "undone gone"
    assert truth.state == "compensated"
    assert len(story.world.wire("DELETE")) == 1


def counted_misses(story: Story, run: str) -> list[str]:
    looks = [
        look
        for effect in story.agent.get(f"runs/{run}")["effects"]
        if effect["step"] == "contact"
        for look in story.agent.get(f"effects/{effect['id']}")["looks"]
    ]
    return [look["verdict"] for look in looks if look["counted"] and look["verdict"] == "absent"]


def test_an_undoing_that_found_nothing_is_watched_until_its_act_can_no_longer_come(story: Story) -> None:
    """Nothing can be looked up, so the undoing is sent blind; its 404 is final only once the late time is past."""
    blind = manifests.tool(
        "crm.contact",
        "contacts",
        by=manifests.KEYLESS,
        verify=None,
        timeout=IMPATIENT,
        late="5s",
        compensate=BY_REFERENCE,
    )
    story.apply(two_branches(blind))
    story.world.script(method="POST", path="/bookings", answer="422")
    gate = story.world.hold("/contacts")
    run = story.agent.start()
    story.until(lambda: story.world.wire("DELETE") and len(story.world.wire("GET", "/contacts")) > 0)
    story.until(lambda: not story.drain.under_way)
    early = story.now(run)
    assert (early.run["phase"], early.run["clean"]) == ("unwinding", None)
    waits = [w["until"] for w in early.run["blocked_by"] if w["reason"] == "late"]
    assert len(waits) == 1, "nobody is told until when it waits"
    gate.release()
    truth = story.truth(run)
    assert (truth.standing.total(), truth.made["contacts"], truth.state) == (0, 1, "compensated")
    assert truth.effects["contact forward"] == "undone gone"
    assert len(story.world.wire("DELETE")) == 2, "one that found nothing, one that removed it"


def test_a_request_that_was_given_up_and_never_books_ends_as_nothing(story: Story) -> None:
    story.apply(two_branches(manifests.tool("crm.contact", "contacts", timeout=IMPATIENT, late="300ms")))
    story.world.script(method="POST", path="/bookings", answer="422", times=None)
    story.world.script(method="POST", path="/contacts", answer="silence", book="never", times=None)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made.total()) == ("failed", 0)
    assert truth.effects["contact forward"].endswith(" nothing")
    assert story.world.wire("DELETE") == []


def test_a_failed_act_is_not_over_while_its_request_may_still_book(story: Story) -> None:
    """All sends are used up and a look shows nothing, but the key is honoured and the request may only be slow."""
    slow = manifests.tool("crm.contact", "contacts", timeout=IMPATIENT, late=LATE, retry="{attempts: 1}")
    story.apply(manifests.one_step(slow))
    gate = story.world.hold("/contacts")
    run = story.agent.start()
    story.until(lambda: counted_misses(story, run) or len(story.world.wire("GET", "/contacts")) > 8)
    assert story.now(run).run["phase"] != "over", "it ended while its request may still book"
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.made["contacts"], truth.effects) == (
        "completed",
        1,
        {"contact forward": "verified present"},
    )
