"""Somebody else's object, or a second one of ours: never touched, never adopted, always a person's."""

from __future__ import annotations

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

BY_EMAIL = """
    verify:
      url: "${ env.WORLD_URL }/@collection@?email=${ args.email }"
      several: "status == 200 && size(body.items) > 1"
      differs: "status == 200 && size(body.items) == 1 && body.items[0].reference != key"
      found: "status == 200 && size(body.items) == 1"
      absent: "status == 200 && size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
"""
NATURAL = manifests.tool("crm.contact", "contacts", by="{by: natural_key}", headers="{}", verify=BY_EMAIL)


def test_somebody_elses_object_under_our_reference_is_never_touched(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/contacts", answer="cut", book="never", foreign=True)
    run = story.agent.start()
    truth = story.truth(run)
    assert (truth.state, truth.effects) == ("stuck", {"contact forward": "stuck differs"})
    story.agent.post(f"runs/{run}/cancel", {"reason": "something is wrong there"})
    truth = story.truth(run)
    assert (truth.state, truth.effects["contact forward"]) == ("stuck", "stuck differs")
    assert len(truth.cases) == 1
    assert [o.foreign for o in story.world.objects()] == [True]
    assert story.world.wire("DELETE") == []
    assert len(story.world.wire("POST")) == 1


def test_two_objects_where_one_was_wanted_need_a_person_and_are_left_alone(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/contacts", answer="cut", foreign=True)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.effects) == ("stuck", {"contact forward": "stuck several"})
    assert len(story.world.objects()) == 2
    assert "more than one is there" in truth.cases[0]["sentence"]
    assert (len(story.world.wire("POST")), story.world.wire("DELETE")) == (1, [])


def test_a_natural_key_that_is_taken_by_somebody_else_is_seen_before_anything_is_sent(story: Story) -> None:
    story.apply(manifests.one_step(NATURAL))
    theirs = story.world.plant("contacts", email="office@acme.example", reference="theirs")
    truth = story.truth(story.agent.start(email="office@acme.example"))
    assert (truth.state, truth.effects["contact forward"].split()[0]) == ("stuck", "stuck")
    assert truth.details["contact forward"]["reason"] == "already_there"
    assert story.world.wire("POST") == []
    assert [o.id for o in story.world.objects()] == [theirs]


def test_a_natural_key_that_is_free_is_taken_once(story: Story) -> None:
    story.apply(manifests.one_step(NATURAL))
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)
    assert next(w.method for w in story.world.wire()) == "GET", "the world was not asked first"


def test_what_somebody_changed_meanwhile_is_seen_by_a_late_look(story: Story) -> None:
    """Ours by its reference, and its content isn't what was asked for: there, but not as asked."""
    story.apply(manifests.one_step())
    gate = story.world.hold("/contacts", where="booked")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    (ours,) = story.world.objects("contacts")
    story.world.book.write(ours, {**(ours.body or {}), "email": "changed@elsewhere.example"})
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.effects) == ("stuck", {"contact forward": "stuck differs"})
    assert len(story.world.wire("POST")) == 1
