"""C32: undoing a change gives back exactly what was there: absent, null, "" and [] are four things, on the wire too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox.conftest import Story
from tests.blackbox.test_c17_versions import effect
from tests.blackbox.updates import RETITLE
from workflows.models import Effect
from workflows.outcomes import OF_THE_IMAGE


def turned_back(story: Story, **before: Any) -> tuple[str, str]:
    """(the run, the document): its title was changed to B and is to be undone. Nothing has been undone yet."""
    story.apply(RETITLE)
    story.world.script(method="POST", path="/refusals", answer="422")
    gate = story.world.hold("/refusals")
    document = story.world.plant("docs", **before)
    run = story.agent.start("retitle-and-fail", input={"id": document, "title": "B"})
    story.until(lambda: gate.arrived(timeout=0))
    assert (story.world.book.objects[document].body or {})["title"] == "B"
    gate.release()
    return run, document


@pytest.mark.parametrize(
    ("before", "nulls"),
    [({}, "deletes"), ({"title": None}, "kept"), ({"title": ""}, "deletes"), ({"title": []}, "deletes")],
    ids=["absent", "null", "empty text", "empty list"],
)
def test_what_was_there_before_is_there_again(story: Story, before: dict[str, Any], nulls: str) -> None:
    story.world.script(method="PATCH", nulls=nulls, times=None)
    run, document = turned_back(story, other="kept", **before)
    story.settle()
    assert story.world.book.objects[document].body == {"other": "kept", **before}
    kept = Effect.objects.get(run_id=run, step__name="doc", kind="forward").before
    assert kept == {**before, OF_THE_IMAGE: 1}
    assert story.agent.get(f"runs/{run}")["state"] == "compensated"


def test_a_null_that_clears_a_field_is_sent_as_a_null(story: Story) -> None:
    story.world.script(method="PATCH", nulls="deletes", times=None)
    turned_back(story)
    story.settle()
    assert [wire.body for wire in story.world.wire("PATCH")] == [{"title": "B"}, {"title": None}]


def test_a_null_that_the_provider_ignores_with_a_yes_is_found_out(story: Story) -> None:
    story.world.script(method="PATCH", nulls="ignored", times=None)
    run, document = turned_back(story)
    story.settle()
    found = effect(story, run, "compensation")
    assert (found["state"], story.world.book.objects[document].body) == ("stuck", {"title": "B"})
    assert found["reason"] in ("not_undone", "inconclusive")
    assert effect(story, run)["state"] == "verified"


def changed_since(story: Story, tool: str = RETITLE, **to: Any) -> tuple[dict[str, Any], Any]:
    """(the undoing, the document) of a run that turned back after somebody changed what it had changed."""
    story.apply(tool)
    story.world.script(method="POST", path="/refusals", answer="422")
    gate = story.world.hold("/refusals")
    document = story.world.plant("docs", title="A", color="red")
    run = story.agent.start("retitle-and-fail", input={"id": document, "title": "B"})
    story.until(lambda: gate.arrived(timeout=0))
    thing = story.world.book.objects[document]
    story.world.book.write(thing, {"title": "B", "color": "red", **to})
    gate.release()
    story.settle()
    return effect(story, run, "compensation"), thing


def test_what_somebody_changed_since_is_a_conflict_and_is_not_written_over(story: Story) -> None:
    found, thing = changed_since(story, title="C", color="blue")
    assert (found["state"], found["reason"], found["world"]) == ("stuck", "differs", "differs")
    assert [look["verdict"] for look in found["looks"]] == ["differs"], "nobody looked"
    assert "somebody changed it since" in found["detail"]
    assert thing.body == {"title": "C", "color": "blue"}
    (case,) = story.agent.get(f"runs/{found['run']}")["cases"]
    assert case["owner"] == "docs-desk"


def test_what_is_still_as_we_made_it_under_another_version_is_undone_under_that(story: Story) -> None:
    found, thing = changed_since(story, color="blue")
    assert (found["state"], thing.body) == ("verified", {"title": "A", "color": "blue"})
    assert [send["outcome"] for send in found["attempts"]] == ["refused", "acknowledged"]
    asked = [wire.headers["if-match"] for wire in story.world.wire("PATCH") if "if-match" in wire.headers]
    assert asked == ['"2"', '"3"']


def test_what_somebody_undid_already_is_undone_by_what_a_look_shows(story: Story) -> None:
    found, thing = changed_since(story, title="A")
    assert (found["state"], len(found["attempts"]), thing.body["title"]) == ("verified", 1, "A")


def test_an_undoing_that_writes_the_whole_thing_is_not_sent_over_what_others_changed(story: Story) -> None:
    whole = RETITLE.replace("    compensate:\n      method: PATCH", "    compensate:\n      method: PUT")
    found, thing = changed_since(story, whole, color="blue")
    assert (found["state"], found["reason"], found["world"]) == ("stuck", "changed", "nothing")
    assert "others' changes" in found["detail"]
    assert thing.body == {"title": "B", "color": "blue"}


def test_a_condition_that_fails_though_the_version_is_the_same_is_refused_and_not_sent_for_ever(story: Story) -> None:
    story.apply(RETITLE)
    story.world.script(method="POST", path="/refusals", answer="422")
    gate = story.world.hold("/refusals")
    document = story.world.plant("docs", title="A")
    run = story.agent.start("retitle-and-fail", input={"id": document, "title": "B"})
    story.until(lambda: gate.arrived(timeout=0))
    story.world.script(method="PATCH", path="/docs/", answer="409", times=None)
    gate.release()
    story.settle()
    found = effect(story, run, "compensation")
    assert (found["state"], found["reason"], len(found["attempts"])) == ("stuck", "refused", 1)
