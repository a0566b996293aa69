"""C36: an undoing is an effect like any other, with its own key, looks and owner; it can fail, and that shows."""

from __future__ import annotations

import socket

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

LAGGING = "{settle: 6s, every: 50ms, looks: 3, within: 2m}"


def test_a_late_refusal_undoes_everything_before_it_in_reverse_order(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    run = story.agent.start()
    truth = story.truth(run)
    assert (truth.state, truth.run["clean"], truth.residue, truth.cases) == ("compensated", False, [], [])
    assert truth.effects == {
        "contact forward": "undone gone",
        "contact compensation": "verified present",
        "member forward": "undone gone",
        "member compensation": "verified present",
        "booking forward": "failed nothing",
    }
    assert {s["name"]: s["state"] for s in truth.run["steps"]} == {
        "contact": "undone",
        "member": "undone",
        "booking": "failed",
    }
    assert [w.target.split("/")[1] for w in story.world.wire("DELETE")] == ["members", "contacts"]
    assert (truth.standing.total(), truth.made.total()) == (0, 2)
    assert "booking" in truth.run["end_reason"]


def test_an_undoing_has_a_key_of_its_own_and_links_to_what_it_undid(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", answer="cut", book="never")
    truth = story.truth(story.agent.start())
    undoing, done = truth.details["member compensation"], truth.details["member forward"]
    assert (undoing["compensates"], done["compensated_by"]) == (done["id"], undoing["id"])
    assert undoing["key"] != done["key"]
    sent = [w.key for w in story.world.wire("DELETE", "/members")]
    assert sent == [undoing["key"]] * 2
    assert truth.state == "compensated"


def test_a_refused_undoing_opens_a_case_and_holds_back_what_it_depends_on(story: Story) -> None:
    refusing = manifests.tool("audience.member", "members", undoing='refused: "status == 422"')
    story.apply(manifests.three_steps(member=refusing))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.run["phase"]) == ("stuck", "unwinding")
    assert truth.effects["member compensation"] == "stuck nothing"
    assert truth.effects["member forward"] == "verified present"
    assert truth.effects["contact forward"] == "verified present", "it was pulled away below what still stands"
    assert "contact compensation" not in truth.effects
    assert (truth.standing, len(truth.cases)) == ({"contacts": 1, "members": 1}, 1)
    assert truth.cases[0]["owner"] == "members-desk"
    assert "stands in members" in truth.cases[0]["sentence"]


def test_a_refused_undoing_does_not_hold_back_an_independent_branch(story: Story) -> None:
    steps = [
        manifests.step("contact", "crm.contact", after="[]"),
        manifests.step("member", "audience.member", after="[]"),
        manifests.step("booking", "calendar.booking", after="[contact, member]"),
    ]
    tools = [manifests.CONTACT, manifests.MEMBER, manifests.BOOKING]
    story.apply(manifests.manifest(tools, [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing) == ("stuck", {"members": 1})
    assert truth.effects["contact forward"] == "undone gone"


def test_an_undoing_that_says_yes_and_does_nothing_is_found_out(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", undo="lies", times=None)
    truth = story.truth(story.agent.start())
    assert truth.effects["member compensation"] == "stuck nothing"
    assert truth.effects["member forward"] == "verified present"
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert truth.details["member compensation"]["reason"] == "not_undone"
    assert len(story.world.wire("DELETE", "/members")) == 1, "what was acknowledged was sent again"


def test_an_undoing_that_breaks_every_time_ends_with_a_person_and_never_with_a_false_word(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", undo="error", times=None)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("member compensation") == ["unknown"] * 4
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert truth.effects["member forward"] == "verified present"


def test_an_undoing_whose_answer_is_lost_is_seen_and_not_repeated(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", answer="cut", times=2)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing.total()) == ("compensated", 0)
    assert len(story.world.wire("DELETE")) == 2


def test_an_undoing_without_what_it_needs_is_not_sent_but_given_to_a_person(story: Story) -> None:
    """No look, and the answer that would have told the id was lost: there is nothing to put into the request."""
    blind = manifests.tool("audience.member", "members", by=manifests.KEYLESS, verify=None, observability="none")
    story.apply(manifests.three_steps(member=blind))
    story.world.script(method="POST", path="/members", answer="cut", keys="ignored")
    run = story.agent.start()
    truth = story.truth(run)
    assert (truth.state, truth.effects["member forward"]) == ("stuck", "stuck unknown")
    story.agent.post(f"runs/{run}/cancel", {"reason": "give it up"})
    truth = story.truth(run)
    assert truth.details["member compensation"]["reason"] == "no_result"
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert story.world.wire("DELETE") == []
    assert len(truth.cases) == 1


def test_an_answer_that_was_lost_is_resolved_before_anything_is_undone(story: Story) -> None:
    steps = [
        manifests.step("contact", "crm.contact", after="[]"),
        manifests.step("booking", "calendar.booking", after="[]"),
    ]
    story.apply(manifests.manifest([manifests.CONTACT, manifests.BOOKING], [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/contacts", answer="cut")
    story.world.script(method="GET", path="/contacts", read="unavailable", times=2)
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made, truth.standing.total()) == ("compensated", {"contacts": 1}, 0)


def test_what_undoing_leaves_behind_is_stated(story: Story) -> None:
    seen = manifests.tool("crm.contact", "contacts", undoing='residue: "Staff may have seen ${ args.email }."')
    story.apply(manifests.three_steps(contact=seen))
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start(email="office@acme.example"))
    assert (truth.state, truth.residue) == ("compensated_with_residue", ["Staff may have seen office@acme.example."])


def test_an_irreversible_act_that_happened_stops_the_way_back_until_somebody_decides(story: Story) -> None:
    sent = manifests.tool("audience.member", "members", effect_class="irreversible", compensate=None)
    story.apply(manifests.three_steps(member=sent))
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert story.world.wire("DELETE") == []


def test_a_workflow_that_accepts_an_irreversible_act_undoes_the_rest_and_states_it(story: Story) -> None:
    sent = manifests.tool("audience.member", "members", effect_class="irreversible", compensate=None)
    story.apply(manifests.three_steps(member=sent, options="after_irreversible: compensate"))
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start(email="office@acme.example"))
    assert (truth.state, truth.standing) == ("compensated_with_residue", {"members": 1})
    assert truth.residue == ["A record for office@acme.example stands in members."]
    assert truth.cases == []


def test_an_irreversible_act_never_leaves_before_all_before_it_is_settled(story: Story) -> None:
    sent = manifests.tool("audience.member", "members", effect_class="irreversible", compensate=None)
    steps = [
        manifests.step("contact", "crm.contact", after="[]"),
        manifests.step("member", "audience.member", after="[]"),
    ]
    story.apply(manifests.manifest([manifests.CONTACT, sent], [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/contacts", answer="cut")
    story.world.script(method="GET", path="/contacts", read="unavailable", times=2)
    truth = story.truth(story.agent.start())
    assert truth.state == "completed"
    order = [f"{w.method} {w.target.partition('?')[0]}" for w in story.world.wire()]
    assert order.index("POST /members") > max(n for n, what in enumerate(order) if what == "GET /contacts")


def test_an_undoing_that_nobody_can_look_at_any_more_needs_a_person(story: Story) -> None:
    hasty = manifests.tool("audience.member", "members", undoing="retry: {attempts: 1}")
    hasty = hasty.replace('absent: "status == 200"}', 'absent: "status == 200", within: 300ms}')
    story.apply(manifests.three_steps(member=hasty))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", answer="cut")
    story.world.script(method="GET", path="/members/", answer="503", times=None)
    truth = story.truth(story.agent.start())
    assert truth.state == "stuck"
    assert truth.details["member compensation"]["reason"] == "unreachable"
    assert truth.effects["member compensation"] == "stuck unknown"
    assert "it is not known" in truth.cases[0]["sentence"]
    assert len(story.world.wire("DELETE", "/members")) == 1


def test_an_undoing_that_cannot_be_looked_at_stays_somebodys_word_and_is_stated(story: Story) -> None:
    unseen = manifests.COMPENSATE.partition("      verify:")[0]
    story.apply(manifests.three_steps(contact=manifests.tool("crm.contact", "contacts", compensate=unseen)))
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start(email="office@acme.example"))
    assert truth.effects["contact compensation"] == "acknowledged unknown"
    assert truth.effects["contact forward"] == "undone unknown", "a yes was taken for a proof"
    assert truth.state == "compensated_with_residue"
    assert truth.residue == ["A record for office@acme.example stands in contacts."]


def test_a_read_that_lags_behind_an_undoing_does_not_make_it_a_failure(story: Story) -> None:
    story.apply(manifests.three_steps(contact=manifests.tool("crm.contact", "contacts", asking=LAGGING)))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="GET", path="/contacts/", read="lagging", times=4)  # as before its last change
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing.total()) == ("compensated", 0)
    assert len(story.world.wire("DELETE", "/contacts")) == 1
    assert "absent" in [look["verdict"] for look in truth.details["contact compensation"]["looks"]]


def test_an_undoing_that_never_reaches_its_provider_needs_a_person_when_its_time_is_over(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo = manifests.COMPENSATE.replace("env.WORLD_URL", "env.CLOSED_URL", 1)
    short = "retry: {first: 10ms, max: 20ms, within: 200ms}"
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        monkeypatch.setenv("MAKEGOOD_ENV", "WORLD_URL,CLOSED_URL")
        monkeypatch.setenv("CLOSED_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
        contact = manifests.tool("crm.contact", "contacts", compensate=undo, undoing=short)
        story.apply(manifests.three_steps(contact=contact))
        story.world.script(method="POST", path="/bookings", answer="422")
        truth = story.truth(story.agent.start())
    assert truth.effects["contact forward"] == "verified present"
    assert truth.details["contact compensation"]["reason"] == "not_sent"
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1})


def test_what_an_act_that_never_happened_would_have_left_is_not_said_of_it(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start(email="office@acme.example"))
    said = {e["step"]: e["residue"] for e in truth.run["effects"] if e["kind"] == "forward"}
    assert said == {"contact": "", "member": "", "booking": ""}, "what isn't there is said to stand"
    assert story.truth(story.agent.start(email="office@acme.example")).run["effects"][0]["residue"] == (
        "A record for office@acme.example stands in contacts."
    )


@pytest.mark.parametrize("by", [manifests.HONOURED, "{by: natural_key}"], ids=["after the send", "before it"])
def test_a_look_whose_address_cannot_be_made_goes_to_a_person_at_once(story: Story, by: str) -> None:
    """What it is made of never changes, so waiting ten minutes for it would only hide it."""
    climbing = manifests.VERIFY.replace("/@collection@?reference=${ key }", "/@collection@/${ args.email }/x")
    slow = "{settle: 0s, every: 20s, looks: 6, within: 10m}"
    headers = '{Idempotency-Key: "${ key }"}' if by == manifests.HONOURED else "{}"
    tool = manifests.tool("crm.contact", "contacts", by=by, verify=climbing, asking=slow, headers=headers)
    story.apply(manifests.one_step(tool))
    run = story.agent.start(email="..")
    story.settle()
    found = story.agent.get(f"effects/{story.agent.get(f'runs/{run}')['effects'][0]['id']}")
    assert (found["state"], found["reason"], len(found["looks"])) == ("stuck", "inconclusive", 1)
    assert "can't be made" in found["detail"]
    assert len(story.world.wire("POST")) == (1 if by == manifests.HONOURED else 0)
