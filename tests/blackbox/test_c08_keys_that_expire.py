"""C08: a key is relied on until it is safe no longer; then the world is searched, and nothing goes out blindly."""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows.models import Effect

BLIND: dict[str, Any] = {"verify": None, "compensate": None, "effect_class": "irreversible", "observability": "none"}
DAY = "{by: native_key, retention: 24h}"
UNPUBLISHED = "{by: native_key, retention: unpublished}"
# A first wait that outlives the test: the worker that should send again is paused.
PAUSED = "{attempts: 4, first: 90s, max: 90s, within: 30d}"


def age(story: Story, run: str, hours: float) -> Effect:
    """The weekend over which nobody worked: the effect's one send lies so far back, and it is due again now."""
    effect = Effect.objects.get(run_id=run)
    assert effect.first_sent_at is not None
    Effect.objects.filter(id=effect.id).update(
        first_sent_at=effect.first_sent_at - dt.timedelta(hours=hours), due_at=dt.datetime.now(dt.UTC)
    )
    return effect


def left_unanswered(story: Story, **tool: Any) -> str:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", retry=PAUSED, **tool)))
    story.world.script(method="POST", answer="cut", keys="ignored")
    run = story.agent.start()
    story.until(lambda: Effect.objects.filter(state="ready", reason="same_key").exists())
    return run


def test_the_effect_says_until_when_its_key_is_safe(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", by=DAY)))
    truth = story.truth(story.agent.start())
    told = truth.details["contact forward"]
    begun = dt.datetime.fromisoformat(told["attempts"][0]["started_at"])
    assert dt.datetime.fromisoformat(told["key_until"]) - begun == dt.timedelta(hours=24, minutes=-5)


def test_without_a_search_an_expired_key_is_stuck_and_nothing_is_sent(story: Story) -> None:
    run = left_unanswered(story, by=DAY, **BLIND)
    age(story, run, 24)
    truth = story.truth(run)
    assert (truth.effects, len(story.world.wire("POST"))) == ({"contact forward": "stuck unknown"}, 1)
    assert truth.run["effects"][0]["reason"] == "key_expired"
    assert "no longer remembers our key" in truth.cases[0]["sentence"]


def test_a_key_within_its_margin_is_not_relied_on_and_one_before_it_is(story: Story) -> None:
    run = left_unanswered(story, by=DAY, **BLIND)
    age(story, run, 23.9)
    story.settle()
    late = left_unanswered(story, by=DAY, **BLIND)
    age(story, late, 23.99)
    truth = story.truth(late)
    assert story.now(run).outcomes("contact forward") == ["unknown", "acknowledged"]
    assert truth.run["effects"][0]["reason"] == "key_expired"


def test_with_a_search_what_stands_is_adopted_and_what_does_not_is_never_sent_again(story: Story) -> None:
    """The world is looked at first, so nothing waits for a key: here a late index lets one miss through."""
    runs = {}
    tool = manifests.tool("crm.contact", "contacts", by=DAY, retry=PAUSED, asking=manifests.NO_LAG)
    story.apply(manifests.one_step(tool))
    for booked in ("before", "never"):
        story.world.script(method="POST", containing=f"{booked}@", answer="cut", book=booked)
        story.world.script(method="GET", read="missing")
        runs[booked] = story.agent.start(email=f"{booked}@acme.example")
        waiting = Effect.objects.filter(run_id=runs[booked], state="ready", attempts=1)
        story.until(waiting.exists)
        waiting.update(doubt=True)  # as where the miss was believed before it was final
        age(story, runs[booked], 24)
        story.settle()
    assert len(story.world.wire("POST")) == 2
    found, gone = story.now(runs["before"]), story.now(runs["never"])
    assert (found.state, found.run["effects"][0]["reason"], found.made["contacts"]) == ("completed", "adopted", 1)
    assert (gone.effects, gone.run["effects"][0]["reason"]) == ({"contact forward": "stuck nothing"}, "key_expired")


def test_an_unpublished_retention_is_no_time_at_all(story: Story) -> None:
    tool = manifests.tool("crm.contact", "contacts", by=UNPUBLISHED, asking=manifests.NO_LAG)
    story.apply(manifests.one_step(tool))
    story.world.script(method="POST", containing="booked@", answer="cut")
    story.world.script(method="POST", containing="lost@", answer="cut", book="never")
    booked, lost = (story.agent.start(email=f"{name}@acme.example") for name in ("booked", "lost"))
    story.settle()
    assert len(story.world.wire("POST")) == 2
    assert story.now(booked).state == "completed"
    truth = story.now(lost)
    assert (truth.effects, truth.run["effects"][0]["reason"]) == ({"contact forward": "stuck nothing"}, "key_expired")
    assert "publish" in truth.details["contact forward"]["detail"]
