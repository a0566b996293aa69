"""What a workflow may say about failure, time and order, each seen from outside."""

from __future__ import annotations

from tests.blackbox import manifests
from tests.blackbox.conftest import Story


def test_a_workflow_that_holds_on_failure_undoes_nothing_and_asks_a_person(story: Story) -> None:
    story.apply(manifests.three_steps(options="on_failure: hold"))
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert story.world.wire("DELETE") == []
    assert "stopped half way" in truth.cases[0]["sentence"]


def test_a_workflow_that_goes_forward_keeps_trying_within_its_limits_and_then_asks_a_person(story: Story) -> None:
    story.apply(manifests.three_steps(options="on_failure: forward"))
    story.world.script(method="POST", path="/bookings", answer="429", times=None)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("booking forward") == ["temporary"] * 4
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1, "members": 1})
    assert story.world.wire("DELETE") == []


def test_past_its_deadline_a_run_turns_back_as_if_a_step_had_failed(story: Story) -> None:
    story.apply(manifests.three_steps(options="deadline: 3s"))
    gate = story.world.hold("/contacts")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    story.until(lambda: story.agent.get(f"runs/{run}")["phase"] == "unwinding")
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.made, truth.standing.total()) == ("compensated", {"contacts": 1}, 0)
    assert truth.run["end_cause"] == "deadline"


def test_an_open_run_idle_past_its_deadline_is_sealed_and_completes(story: Story) -> None:
    story.apply(manifests.one_step(options="deadline: 4s"))
    run = story.agent.start(open=True)
    story.until(lambda: story.agent.get(f"runs/{run}")["phase"] == "over")
    truth = story.truth(run)
    assert (truth.state, truth.run["sealed"], truth.run["clean"]) == ("completed", True, True)


def test_two_runs_on_one_thing_are_never_in_flight_together_and_the_waiter_says_for_whom(story: Story) -> None:
    story.apply(manifests.one_step())
    gate = story.world.hold("/contacts")
    first = story.agent.start(email="office@acme.example")
    story.until(lambda: gate.arrived(timeout=0))
    second = story.agent.start(email="Office@acme.example")
    story.until(lambda: story.agent.get(f"runs/{second}")["blocked_by"])
    (waits,) = story.agent.get(f"runs/{second}")["blocked_by"]
    holder = story.agent.get(f"runs/{first}")["effects"][0]["id"]
    assert (waits["reason"], waits["by"][0]["effect"]) == ("order", holder)
    assert len(story.world.wire("POST")) == 1
    gate.release()
    assert [story.truth(run).state for run in (first, second)] == ["completed", "completed"]
    assert len(story.world.wire("POST")) == 2


def test_a_step_gets_what_the_step_before_it_was_told(story: Story) -> None:
    linked = manifests.tool(
        "audience.member",
        "members",
        arguments=manifests.ARGUMENTS.replace("amount: {type: integer}", "contact: {type: string}"),
        json='{email: "${ args.email }", contact: "${ args.contact }", reference: "${ key }"}',
    )
    given = '{email: "${ input.email }", contact: "${ steps.contact.result.id }"}'
    steps = [manifests.step("contact", "crm.contact"), manifests.step("member", "audience.member", arguments=given)]
    story.apply(manifests.manifest([manifests.CONTACT, linked], [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/contacts", answer="cut")
    truth = story.truth(story.agent.start())
    (contact,), (member,) = story.world.objects("contacts"), story.world.objects("members")
    assert (truth.state, (member.body or {})["contact"]) == ("completed", contact.id)


def test_an_undoing_after_its_window_is_not_sent_but_given_to_a_person(story: Story) -> None:
    story.apply(manifests.three_steps(contact=manifests.tool("crm.contact", "contacts", undoing="window: 1ms")))
    story.world.script(method="POST", path="/bookings", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing) == ("stuck", {"contacts": 1})
    assert truth.details["contact compensation"]["reason"] == "window"
    assert story.world.wire("DELETE", "/contacts") == []


def test_a_key_that_the_provider_may_have_forgotten_is_not_sent_again(story: Story) -> None:
    """C08: no look, and the key's retention is over: a second send could be a second object."""
    forgetful = manifests.tool(
        "crm.contact",
        "contacts",
        by="{by: native_key, retention: 1ms}",
        verify=None,
        compensate=None,
        effect_class="irreversible",
        observability="none",
    )
    story.apply(manifests.one_step(forgetful))
    story.world.script(method="POST", answer="cut", keys="ignored")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.effects, len(story.world.wire("POST"))) == (
        "stuck",
        {"contact forward": "stuck unknown"},
        1,
    )
    assert truth.details["contact forward"]["reason"] == "key_expired"


def test_a_refused_undoing_is_followed_by_its_declared_fallback(story: Story) -> None:
    withdraw = manifests.tool("crm.withdraw", "withdrawals", compensate=None, effect_class="irreversible")
    contact = manifests.tool("crm.contact", "contacts", undoing='refused: "status == 422"\nfallbacks: [crm.withdraw]')
    steps = [manifests.step("contact", "crm.contact"), manifests.step("booking", "calendar.booking")]
    tools = [contact, withdraw, manifests.BOOKING]
    story.apply(manifests.manifest(tools, [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/contacts", answer="422", times=None)
    truth = story.truth(story.agent.start())
    assert len(story.world.wire("POST", "/withdrawals")) == 1
    assert (truth.state, truth.effects["contact forward"]) == ("compensated_with_residue", "undone unknown")
