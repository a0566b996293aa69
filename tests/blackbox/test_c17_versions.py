"""C17: a read after a write shows nothing for a while, or the state before it. Neither is taken for an answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.updates import RETITLE
from workflows.engine import people
from workflows.models import Effect


def effect(story: Story, run: str, kind: str = "forward") -> dict[str, Any]:
    found = [e for e in story.agent.get(f"runs/{run}")["effects"] if e["kind"] == kind and e["step"] == "doc"]
    detail: dict[str, Any] = story.agent.get(f"effects/{found[0]['id']}")
    return detail


def begin(story: Story, workflow: str = "retitle", title: str = "B", **before: Any) -> tuple[str, str]:
    """(the run, the document), which somebody made with the title A."""
    story.apply(RETITLE)
    document = story.world.plant("docs", **{"title": "A", **before})
    return story.agent.start(workflow, input={"id": document, "title": title}), document


def test_a_created_object_that_a_read_does_not_show_twice_is_waited_for(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="GET", path="/contacts", read="missing", times=2)
    truth = story.truth(story.agent.start())
    assert (truth.state, len(story.world.wire("POST"))) == ("completed", 1)
    assert [look["verdict"] for look in truth.details["contact forward"]["looks"]] == ["absent", "absent", "found"]


def test_a_read_of_the_version_before_the_write_is_not_yet_and_not_a_difference(story: Story) -> None:
    story.world.script(method="GET", path="/docs/", read="exact", times=1)  # the image before
    story.world.script(method="GET", path="/docs/", read="lagging", times=2)
    run, _ = begin(story)
    story.settle()
    found = effect(story, run)
    assert [look["verdict"] for look in found["looks"]] == ["inconclusive", "inconclusive", "found"]
    assert "version 1 is older than ours, 2" in found["looks"][0]["reason"]
    assert (found["state"], found["result"]["version"], len(story.world.wire("PATCH"))) == ("verified", 2, 1)


@pytest.mark.parametrize("booked", [True, False], ids=["done", "not done"])
def test_without_the_writes_answer_the_state_from_before_it_is_not_yet_and_in_the_end_not_done(
    story: Story, booked: bool
) -> None:
    """The write's own version was lost with its answer; that of the image from before it wasn't."""
    story.world.script(method="PATCH", path="/docs/", answer="cut", book="before" if booked else "never")
    story.world.script(method="GET", path="/docs/", read="exact", times=1)  # the image before
    if booked:
        story.world.script(method="GET", path="/docs/", read="lagging", times=2)
    run, document = begin(story)
    story.settle()
    found = effect(story, run)
    assert (found["state"], found["world"], story.agent.get(f"runs/{run}")["state"]) == (
        "verified",
        "present",
        "completed",
    )
    assert [send["outcome"] for send in found["attempts"]] == ["unknown", *([] if booked else ["acknowledged"])]
    assert (found["looks"][0]["verdict"], found["looks"][0]["reason"]) == (
        "absent",
        "version 1 is still that from before, 1",
    )
    assert story.world.book.objects[document].body == {"title": "B"}


def test_without_the_writes_answer_a_newer_version_with_other_content_is_a_difference(story: Story) -> None:
    gate = story.world.hold("/docs/", "PATCH", where="booked")
    story.world.script(method="PATCH", path="/docs/", answer="cut")
    run, document = begin(story)
    story.until(lambda: gate.arrived(timeout=0))
    story.world.book.write(story.world.book.objects[document], {"title": "A"})
    gate.release()
    story.settle()
    found = effect(story, run)
    assert (found["state"], found["reason"], len(story.world.wire("PATCH"))) == ("stuck", "differs", 1)


def test_a_newer_version_with_other_content_is_a_difference_at_once(story: Story) -> None:
    gate = story.world.hold("/docs/", "PATCH", where="booked")
    run, document = begin(story)
    story.until(lambda: gate.arrived(timeout=0))
    story.world.book.write(story.world.book.objects[document], {"title": "A"})  # somebody changed it back
    gate.release()
    story.settle()
    found = effect(story, run)
    assert (found["state"], found["world"], found["reason"]) == ("stuck", "differs", "differs")
    assert [look["verdict"] for look in found["looks"]] == ["differs"]


def test_a_read_that_stays_on_the_old_version_goes_to_a_person(story: Story) -> None:
    story.world.script(method="GET", path="/docs/", read="exact", times=1)
    story.world.script(method="GET", path="/docs/", read="lagging", times=None)
    run, _ = begin(story)
    story.settle()
    found = effect(story, run)
    assert (found["state"], found["reason"], len(story.world.wire("PATCH"))) == ("stuck", "inconclusive", 1)
    assert story.agent.get(f"runs/{run}")["cases"][0]["owner"] == "docs-desk"


def test_an_undoing_is_not_proved_by_a_read_of_the_state_before_the_act(story: Story) -> None:
    """The undoing says yes and does nothing, and the replica that is read still shows the title from before."""
    story.world.script(method="POST", path="/refusals", answer="422")
    gate = story.world.hold("/refusals")
    run, _ = begin(story, "retitle-and-fail")
    story.until(lambda: gate.arrived(timeout=0))
    story.world.script(method="PATCH", path="/docs/", book="never")
    story.world.script(method="GET", path="/docs/", read="lagging", times=None)
    gate.release()
    story.settle()
    found = effect(story, run, "compensation")
    assert (found["state"], found["reason"]) == ("stuck", "inconclusive"), "a read of the past was believed"
    assert effect(story, run)["state"] == "verified"


def test_what_was_seen_once_and_is_missing_now_is_gone_and_not_never_there(story: Story) -> None:
    gate = story.world.hold("/docs/", "PATCH", where="booked")
    run, document = begin(story)
    story.until(lambda: gate.arrived(timeout=0))
    thing = story.world.book.objects[document]
    story.world.book.write(thing, {"title": "A"})
    gate.release()
    story.settle()
    story.world.book.write(thing, None)
    people.look_again(Effect.objects.get(run_id=run).id, by="person:night desk", why="it was put right")
    story.settle()
    found = effect(story, run)
    assert (found["state"], found["world"], found["reason"]) == ("stuck", "gone", "gone")
    assert "seen" in found["detail"]


def test_an_answer_that_it_existed_and_is_gone_is_told_apart_from_absence(story: Story) -> None:
    soft = manifests.VERIFY + '      gone: "size(body.items) == 1 && has(body.items[0].deleted)"\n'
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", verify=soft)))
    gate = story.world.hold("/contacts", where="booked")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    thing = story.world.objects("contacts")[0]
    story.world.book.write(thing, {**(thing.body or {}), "deleted": True})
    gate.release()
    story.settle()
    found = story.agent.get(f"runs/{run}")["effects"][0]
    assert (found["state"], found["world"], found["reason"]) == ("stuck", "gone", "gone")
