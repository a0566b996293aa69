"""C01: the engine makes the key, one per effect, for ever; nothing an agent says changes it."""

from __future__ import annotations

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

OPEN_ARGUMENTS = "{type: object, required: [email], properties: {email: {type: string}}}"
KEYS = {"key": "mine-1", "idempotency_key": "mine-1", "Idempotency-Key": "mine-1"}


def test_a_repeated_call_carries_the_same_key_and_makes_one_object(story: Story) -> None:
    story.apply(
        manifests.one_step(
            manifests.tool(
                "crm.contact",
                "contacts",
                verify=None,
                compensate=None,
                effect_class="irreversible",
                observability="none",
            )
        )
    )
    story.world.script(method="POST", answer="cut", times=2)
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["unknown", "unknown", "acknowledged"]
    assert [w.key for w in story.world.wire("POST")] == [truth.key("contact forward")] * 3
    assert truth.made["contacts"] == 1
    assert truth.effects == {"contact forward": "acknowledged unknown"}
    assert truth.run["clean"] is False, "nobody can look, so nobody may call it clean"


def test_a_key_among_the_arguments_has_no_influence(story: Story) -> None:
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", arguments=OPEN_ARGUMENTS)))
    story.world.script(method="POST", answer="cut")
    run = story.agent.start(None, open=True)
    story.agent.step(run, "pay", "crm.contact", email="a@acme.example", **KEYS)
    status, problem = story.agent.post(
        f"runs/{run}/steps",
        {"name": "pay", "tool": "crm.contact", "arguments": {"email": "a@acme.example", "key": "mine-2"}},
        key="mine-3",
    )
    assert (status, problem["code"]) == (409, "name_taken"), "the same step with another key isn't another payment"
    story.agent.post(f"runs/{run}/seal")
    truth = story.truth(run)
    assert truth.made["contacts"] == 1
    assert {w.key for w in story.world.wire("POST")} == {truth.key("pay forward")}
    assert "mine" not in truth.key("pay forward")


def test_a_strict_tool_refuses_a_key_among_the_arguments(story: Story) -> None:
    story.apply(manifests.one_step())
    run = story.agent.start(None, open=True)
    body = {"name": "pay", "tool": "crm.contact", "arguments": {"email": "a@acme.example", "idempotency_key": "m"}}
    status, problem = story.agent.post(f"runs/{run}/steps", body)
    assert (status, problem["errors"][0]["path"]) == (400, "arguments.idempotency_key")
    story.settle()
    assert story.world.wire() == []


def test_another_amount_is_another_effect_with_its_own_key_and_its_own_decision(story: Story) -> None:
    story.apply(
        manifests.one_step(
            manifests.tool(
                "crm.contact",
                "contacts",
                json='{email: "${ args.email }", amount: "${ args.amount }", reference: "${ key }"}',
            )
        )
    )
    run = story.agent.start(None, open=True)
    story.agent.step(run, "pay", "crm.contact", email="a@acme.example", amount=100)
    story.agent.step(run, "pay-more", "crm.contact", email="a@acme.example", amount=200)
    story.agent.post(f"runs/{run}/seal")
    truth = story.truth(run)
    assert truth.key("pay forward") != truth.key("pay-more forward")
    assert sorted(o.body["amount"] for o in story.world.objects() if o.body) == [100, 200]
    digests = {truth.details[f"{name} forward"]["digest"] for name in ("pay", "pay-more")}
    assert len(digests) == 2


def test_a_provider_that_ignores_the_key_still_books_once(story: Story) -> None:
    """C13: the look comes before the second send, so it doesn't matter that the promise about keys was empty."""
    story.apply(manifests.one_step())
    story.world.script(method="POST", keys="ignored", times=None)
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_a_broken_promise_about_keys_is_seen_and_given_to_a_person(story: Story) -> None:
    """The search lied about absence and the provider about its keys: two objects, and nobody removes either."""
    story.apply(manifests.one_step(manifests.tool("crm.contact", "contacts", asking=manifests.NO_LAG)))
    story.world.script(method="POST", keys="ignored", times=None)
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", read="missing")
    truth = story.truth(story.agent.start())
    assert truth.made["contacts"] == 2
    assert (truth.state, truth.effects) == ("stuck", {"contact forward": "stuck several"})
    assert story.world.wire("DELETE") == []
