"""C40: a delete that finds nothing, finds dependants, or was done by somebody else."""

from __future__ import annotations

from tests.blackbox import manifests
from tests.blackbox.conftest import Story


def refused_at_the_end(story: Story) -> None:
    story.world.script(method="POST", path="/bookings", answer="422")


def test_a_404_on_the_second_delete_is_looked_at_and_the_undoing_is_done(story: Story) -> None:
    story.apply(manifests.three_steps())
    refused_at_the_end(story)
    story.world.script(method="DELETE", path="/members", answer="cut", book="never")
    run = story.agent.start()
    story.until(lambda: story.world.wire("DELETE", "/members"))
    story.world.script(method="DELETE", path="/members", undo="gone")
    truth = story.truth(run)
    assert [w.answered for w in story.world.wire("DELETE", "/members")] == ["cut", "normal"]
    assert truth.outcomes("member compensation") == ["unknown", "unknown"]
    assert (truth.state, truth.standing.total()) == ("compensated", 0)


def test_a_404_on_the_first_delete_is_looked_at_not_believed(story: Story) -> None:
    """It says that there is no such object, and it stands: the request reached another tenant, say."""
    story.apply(manifests.three_steps())
    refused_at_the_end(story)
    story.world.script(method="DELETE", path="/members", answer="404", times=None)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert truth.effects["member forward"] == "verified present"


def test_what_somebody_else_removed_already_counts_as_undone_once_a_look_shows_it(story: Story) -> None:
    story.apply(manifests.three_steps())
    refused_at_the_end(story)
    story.world.script(method="DELETE", path="/members", undo="gone")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing.total()) == ("compensated", 0)
    assert len(story.world.wire("DELETE", "/members")) == 1


def test_a_delete_refused_for_its_dependants_is_never_forced_and_needs_a_person(story: Story) -> None:
    story.apply(manifests.three_steps())
    refused_at_the_end(story)
    story.world.script(method="DELETE", path="/members", undo="refused", times=None)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert {w.target for w in story.world.wire("DELETE")} == {
        f"/members/{truth.details['member forward']['external_ref']}"
    }
    assert len(truth.cases) == 1


def test_dependants_that_go_away_in_time_let_the_delete_through(story: Story) -> None:
    story.apply(manifests.three_steps())
    refused_at_the_end(story)
    story.world.script(method="DELETE", path="/members", undo="refused")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing.total()) == ("compensated", 0)


def test_an_undoing_over_another_runs_later_act_on_the_same_thing_needs_a_person(story: Story) -> None:
    """Both runs concern one contact. Removing it for the first would pull the ground from under the second."""
    story.apply(manifests.three_steps())
    gate = story.world.hold("/bookings")
    first = story.agent.start(email="office@acme.example")
    story.until(lambda: gate.arrived(timeout=0))
    second = story.agent.start(None, open=True)
    story.agent.step(second, "more", "crm.contact", email="office@acme.example")
    story.agent.post(f"runs/{second}/seal")
    story.until(lambda: story.agent.get(f"runs/{second}")["phase"] == "over")
    refused_at_the_end(story)
    story.world.script(method="POST", path="/bookings", answer="422", times=None)
    gate.release(book=False)
    truth = story.truth(first)
    assert truth.state == "stuck"
    assert truth.details["contact compensation"]["reason"] == "dependants"
    assert second in str(truth.run)
    assert story.world.wire("DELETE", "/contacts") == []
    assert story.truth(second).state == "completed"


def test_a_restore_that_is_refused_while_the_deletion_is_still_going_on_is_tried_again_on_the_same_target(
    story: Story,
) -> None:
    """The act moves a thing into the bin; its undoing brings that one back. For a while the bin says 409, and reads
    say 404 of both."""
    undo = """
    compensate:
      method: POST
      url: "${ env.WORLD_URL }/restored"
      headers: {Idempotency-Key: "${ key }"}
      json: {of: "${ result.id }", reference: "${ key }"}
      temporary: "status in [409, 429]"
      verify: {url: "${ env.WORLD_URL }/restored?of=${ result.id }",
               found: "size(body.items) == 1", absent: "size(body.items) == 0"}
"""
    member = manifests.tool("audience.member", "members", compensate=undo)
    story.apply(manifests.three_steps(member=member))
    refused_at_the_end(story)
    story.world.script(method="POST", path="/restored", answer="409", times=3)
    run = story.agent.start()
    story.settle()
    sent = story.world.wire("POST", "/restored")
    assert [w.answered for w in sent] == ["409"] * 3 + ["normal"]
    assert (len({w.key for w in sent}), len({w.body["of"] for w in sent})) == (1, 1)
    assert story.agent.get(f"runs/{run}")["state"] == "compensated"


def test_the_dependants_that_a_refusal_names_are_named_to_the_person(story: Story) -> None:
    story.apply(manifests.three_steps())
    refused_at_the_end(story)
    story.world.script(method="DELETE", path="/members", undo="refused", times=None)
    truth = story.truth(story.agent.start())
    assert "locked by its owner" in truth.details["member compensation"]["detail"]


def test_what_undoing_cost_and_who_may_have_seen_it_is_stated(story: Story) -> None:
    more = 'residue: "Staff may have seen it."\ncost: {amount: 1250, currency: EUR}'
    story.apply(manifests.three_steps(member=manifests.tool("audience.member", "members", undoing=more)))
    refused_at_the_end(story)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.residue) == (
        "compensated_with_residue",
        ["Staff may have seen it. Undoing it cost EUR 12.50."],
    )
