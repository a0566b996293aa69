"""C10: 412 for our own successful write. Who owns what is there is proved by its mark and content, never guessed."""

from __future__ import annotations

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

# A store that takes a write only where nothing is: `If-None-Match: *`. The mark is `reference`, the content the email.
UPLOAD = """
    verify:
      url: "${ env.WORLD_URL }/files/${ args.email }"
      differs: "status == 200 && (!has(body.reference) || body.reference != key || body.email != args.email)"
      found: "status == 200"
      absent: "status == 404"
      result: {id: "${ body.id }"}
"""


def upload(**fields: str) -> str:
    text = manifests.tool(
        "crm.contact",
        "files",
        by=manifests.KEYLESS,
        headers='{If-None-Match: "*"}',
        verify=UPLOAD,
        asking=manifests.NO_LAG,
        retry="{attempts: 4, first: 500ms, max: 500ms, within: 5m}",
        **fields,
    )
    return text.replace("method: POST", "method: PUT").replace('/files"', '/files/${ args.email }"')


def lost_then_sent_again(story: Story, email: str) -> str:
    """The first answer was lost, one look came too early, and the same request went out again."""
    story.world.script(method="PUT", containing=email, answer="cut", book="before")
    story.world.script(method="GET", read="missing", times=None)
    run = story.agent.start(email=email)
    story.until(lambda: story.world.wire("GET"))
    second = story.world.hold("/files", method="PUT")
    story.until(lambda: second.arrived(timeout=0))
    story.world.clear()
    second.release()
    return run


def test_412_after_a_lost_answer_is_ours_where_mark_and_content_are(story: Story) -> None:
    story.apply(manifests.one_step(upload(late="10ms")))
    truth = story.truth(lost_then_sent_again(story, "ours@acme.example"))
    assert truth.outcomes("contact forward") == ["unknown", "refused"]
    assert "status 412" in truth.details["contact forward"]["attempts"][1]["reason"]
    assert (truth.state, truth.made["files"]) == ("completed", 1)


@pytest.mark.parametrize("same", [False, True], ids=["foreign content", "same content, no mark"])
def test_412_after_a_lost_answer_with_somebody_elses_object_there_needs_a_person(story: Story, same: bool) -> None:
    story.apply(manifests.one_step(upload(late="10ms")))
    email = "theirs@acme.example"
    story.world.script(method="PUT", answer="cut", book="never")
    story.world.script(method="GET", read="missing")
    gate = story.world.hold("/files", method="GET")
    run = story.agent.start(email=email)
    story.until(lambda: gate.arrived(timeout=0))
    theirs = story.world.book.draft("files", "", {"email": email}, foreign=True)
    theirs.id = email
    story.world.book.write(theirs, {"email": email if same else "somebody@else.example"})
    gate.release()
    truth = story.truth(run)
    assert truth.outcomes("contact forward")[0] == "unknown"
    assert (truth.state, truth.effects) == ("stuck", {"contact forward": "stuck differs"})
    assert [o.foreign for o in story.world.objects()] == [True], "it was overwritten, or taken away"
    assert story.world.wire("DELETE") == []


def test_412_on_the_very_first_send_is_a_conflict_at_once(story: Story) -> None:
    story.apply(manifests.one_step(upload(late="10ms")))
    email = "taken@acme.example"
    theirs = story.world.book.draft("files", "", {"email": email}, foreign=True)
    theirs.id = email
    story.world.book.write(theirs, {"email": email})
    truth = story.truth(story.agent.start(email=email))
    assert (truth.state, truth.effects) == ("failed", {"contact forward": "failed nothing"})
    assert "status 412" in truth.details["contact forward"]["detail"]
    assert len(story.world.wire("PUT")) == 1
    assert story.world.wire("GET") == []


def test_a_conflict_that_names_our_own_object_is_looked_up_and_adopted(story: Story) -> None:
    """409 by a unique field, its id only in the text: the look finds it by our mark."""
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", by=manifests.KEYLESS, late="10ms")))
    story.world.script(method="POST", unique="email", times=None)
    story.world.script(method="POST", answer="cut", book="before")
    story.world.script(method="GET", read="missing")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") in (["unknown", "refused"], ["unknown"])
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)
