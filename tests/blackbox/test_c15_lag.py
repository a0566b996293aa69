"""C15: a search that doesn't see what was just created proves nothing until the provider's lag is past."""

from __future__ import annotations

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

LAGGING = "{settle: 6s, every: 50ms, looks: 3, within: 2m}"
LAG = 1.5  # seconds; below what the manifest says of this provider, far above the time of some looks


def test_a_miss_within_the_lag_never_causes_a_second_send(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", by=manifests.KEYLESS, asking=LAGGING)))
    story.world.script(method="POST", answer="cut", keys="ignored")
    story.world.script(method="GET", read="lagging", lag=LAG, times=None)
    truth = story.truth(story.agent.start())
    looks = truth.details["contact forward"]["looks"]
    early = [look for look in looks if look["verdict"] == "absent"]
    assert early, "the search was never asked while it lagged"
    assert not any(look["counted"] for look in early)
    assert looks[-1]["verdict"] == "found"
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_an_acknowledged_act_that_the_search_does_not_show_yet_is_not_sent_again(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", asking=LAGGING)))
    story.world.script(method="GET", read="lagging", lag=LAG, times=None)
    run = story.agent.start()
    story.until(lambda: len(story.world.wire("GET")) > 1)
    early = story.now(run)
    assert early.effects == {"contact forward": "acknowledged unknown"}, "accepted isn't verified"
    truth = story.truth(run)
    assert (truth.state, len(story.world.wire("POST"))) == ("completed", 1)


def test_a_conflict_that_names_an_existing_id_is_looked_at_and_ours_is_adopted(story: Story) -> None:
    """The manifest believes a miss too early. The second send meets the provider's own uniqueness; it stays one."""
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", asking=manifests.NO_LAG)))
    story.world.script(method="POST", keys="ignored", unique="email", times=None)
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", read="missing", times=1)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["unknown", "unknown"]
    assert "Existing ID" in str(truth.details["contact forward"]["attempts"][-1])
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_conflict_on_the_first_send_with_somebody_elses_object_is_not_adopted(story: Story) -> None:
    story.apply(manifests.one_step())
    theirs = story.world.plant("contacts", email="office@acme.example", reference="theirs")
    story.world.script(method="POST", unique="email", times=None)
    run = story.agent.start(email="office@acme.example")
    truth = story.truth(run)
    assert truth.made["contacts"] == 0
    assert [o.id for o in story.world.objects()] == [theirs]
    assert truth.state == "failed"
    assert truth.effects["contact forward"] == "failed nothing"


def test_an_acknowledged_act_that_never_shows_needs_a_person_and_is_never_sent_again(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", book="never")
    truth = story.truth(story.agent.start())
    assert (truth.state, len(story.world.wire("POST"))) == ("stuck", 1)
    assert (truth.effects, truth.made.total()) == ({"contact forward": "stuck nothing"}, 0)
    assert truth.run["effects"][0]["reason"] == "not_found"
