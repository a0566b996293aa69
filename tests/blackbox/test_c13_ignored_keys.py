"""C13: the provider takes the key and ignores it. One key with two objects costs the tool its promise, by itself."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows.engine import trust
from workflows.models import Attempt, Demotion, Effect, Entry

BLIND: dict[str, Any] = {"verify": None, "compensate": None, "effect_class": "irreversible", "observability": "none"}


def test_two_objects_under_one_key_demote_the_tool_for_every_later_effect(story: Story) -> None:
    tool = manifests.tool("crm.contact", "contacts", asking=manifests.NO_LAG, late="50ms")
    story.apply(manifests.one_step(tool))
    story.world.script(method="POST", keys="ignored", times=None)
    story.world.script(method="POST", containing="first@", answer="cut")
    story.world.script(method="GET", containing="reference", read="missing")
    truth = story.truth(story.agent.start(email="first@acme.example"))
    assert (truth.effects, truth.made["contacts"]) == ({"contact forward": "stuck several"}, 2)
    (demoted,) = Demotion.objects.all()
    assert (str(demoted), demoted.lifted_at, str(demoted.effect_id)) == (
        "crm.contact v1",
        None,
        truth.run["effects"][0]["id"],
    )
    assert Entry.objects.get(subject_id=demoted.id).event == "demote"

    story.world.script(method="POST", containing="second@", answer="cut")
    second = story.truth(story.agent.start(email="second@acme.example"))
    assert (second.state, second.made["contacts"], second.outcomes("contact forward")) == ("completed", 1, ["unknown"])
    assert second.details["contact forward"]["key_until"] is None, "it has no key to rely on any more"


@pytest.mark.parametrize("first", [True, False], ids=["before the second answer", "after it"])
def test_a_late_answer_that_names_another_object_demotes_the_tool(story: Story, first: bool) -> None:
    """A worker was taken for dead; its call ended after all, and both answers came under one key."""
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", **BLIND)))
    story.world.script(method="POST", keys="ignored", times=None)
    slow, quick = story.world.hold("/contacts"), story.world.hold("/contacts")
    run = story.agent.start()
    story.until(lambda: slow.arrived(timeout=0))
    Effect.objects.filter(run_id=run).update(lease_until=dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1))
    story.until(lambda: quick.arrived(timeout=0))
    for gate in (slow, quick) if first else (quick, slow):
        gate.release()
        story.until(lambda: Attempt.objects.filter(outcome="acknowledged").exists())
    truth = story.truth(run)
    assert truth.made["contacts"] == 2
    assert (truth.effects, truth.state) == ({"contact forward": "stuck several"}, "stuck")
    assert truth.details["contact forward"]["detail"].startswith("one key, two objects: con-")
    assert [str(row) for row in Demotion.objects.all()] == ["crm.contact v1"]


def test_a_demoted_tool_is_never_sent_again_blindly(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", **BLIND)))
    first = story.agent.start(email="first@acme.example")
    story.settle()
    effect = story.now(first).run["effects"][0]["id"]
    trust.doubt("crm.contact", 1, effect_id=effect, by="platform desk", why="a probe got two ids for one key")
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start(email="second@acme.example"))
    assert (truth.effects, truth.outcomes("contact forward")) == ({"contact forward": "stuck unknown"}, ["unknown"])
    assert truth.run["effects"][0]["reason"] == "cannot_know"

    trust.lift("crm.contact", 1, by="platform desk", why="the vendor honours keys since this morning")
    story.world.script(method="POST", answer="cut")
    third = story.truth(story.agent.start(email="third@acme.example"))
    assert third.outcomes("contact forward") == ["unknown", "acknowledged"]
    (row,) = Demotion.objects.all()
    assert (row.lifted_by, row.lift_reason) == ("platform desk", "the vendor honours keys since this morning")
    assert [e.event for e in Entry.objects.filter(subject_id=row.id).order_by("seq")] == ["demote", "trust"]


def test_another_version_of_the_tool_is_believed_anew(story: Story) -> None:
    tool = manifests.tool("crm.contact", "contacts", **BLIND)
    story.apply(manifests.one_step(tool))
    first = story.now(story.agent.start(email="first@acme.example")).run["id"]
    story.settle()
    effect = story.now(first).run["effects"][0]["id"]
    trust.doubt("crm.contact", 1, effect_id=effect, by="platform desk", why="a probe got two ids for one key")
    story.apply(
        manifests.one_step(tool.replace("version: 1", "version: 2", 1)).replace(
            "onboarding:\n    version: 1", "onboarding:\n    version: 2"
        )
    )
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start(email="second@acme.example"))
    assert truth.outcomes("contact forward") == ["unknown", "acknowledged"]


def test_a_gateway_that_gives_up_says_nothing_and_is_looked_at(story: Story) -> None:
    story.apply(manifests.one_step())
    for status in (502, 504):
        story.world.script(
            method="POST", answer="raw", status=status, text="<h1>Gateway</h1>", content_type="text/html"
        )
        truth = story.truth(story.agent.start(email=f"n{status}@acme.example"))
        assert truth.outcomes("contact forward") == ["unknown"]
        assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_an_operator_lists_doubts_and_lifts_demotions_with_a_reason(story: Story) -> None:
    story.apply(manifests.one_step())
    effect = story.truth(story.agent.start()).run["effects"][0]["id"]

    def command(*arguments: str) -> str:
        told = io.StringIO()
        call_command("trust_keys", *arguments, stdout=told)
        return told.getvalue()

    with pytest.raises(CommandError, match="Say why"):
        command("crm.contact", "--doubt", effect)
    with pytest.raises(CommandError, match="is no effect of"):
        command("crm.contact", "--doubt", "nonsense", "--why", "a probe")
    command("crm.contact", "--doubt", effect, "--why", "a probe got two ids")
    assert "crm.contact v1" in command()
    assert "a probe got two ids" in command()
    with pytest.raises(CommandError, match="Say why"):
        command("crm.contact")
    command("crm.contact", "--why", "the vendor mended it")
    assert command() == "The keys of every tool that declares them are believed.\n"
    with pytest.raises(CommandError, match="name the version"):
        command("crm.contact", "--why", "once more")
