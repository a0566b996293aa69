"""C27: amounts are whole minor units of a currency with its own decimals, from the asking to the proof."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows.models import Effect

MONEY = (
    "{type: object, required: [email, amount], additionalProperties: false, properties: {email: {type: string},"
    " amount: {type: number}, currency: {type: string}}}"
)
VERIFY = """
    verify:
      url: "${ env.WORLD_URL }/@collection@?reference=${ key }"
      differs: "size(body.items) == 1 && whole(body.items[0].minor) != args.amount"
      found: "size(body.items) == 1"
      absent: "size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
"""
JSON = '{major: "${ major(args.amount, args.currency) }", minor: "${ args.amount }", reference: "${ key }"}'


def charge(json: str = JSON) -> str:
    made = manifests.tool("pay.charge", "charges", arguments=MONEY, verify=VERIFY, json=json)
    value = '    value: {amount: "${ args.amount }", currency: "${ args.currency }"}'
    return manifests.manifest([made.replace("    retry:", f"{value}\n    retry:")])


def opened(story: Story, json: str = JSON) -> str:
    story.apply(charge(json))
    return story.agent.start(None, open=True)


def ask(story: Story, run: str, **arguments: Any) -> tuple[int, Any]:
    body = {"name": "charge", "tool": "pay.charge", "arguments": {"email": "office@acme.example", **arguments}}
    return story.agent.post(f"runs/{run}/steps", body)


@pytest.mark.parametrize(
    ("amount", "currency", "sent"),
    [(5800, "JPY", "5800"), (1255, "KWD", "1.255"), (8060, "USD", "80.60"), (989900, "HUF", "9899.00")],
)
def test_what_is_sent_is_the_amount_in_the_currencys_own_form(
    story: Story, amount: int, currency: str, sent: str
) -> None:
    run = opened(story)
    assert ask(story, run, amount=amount, currency=currency)[0] == 202
    story.settle()
    assert [wire.body["major"] for wire in story.world.wire("POST")] == [sent]
    effect = Effect.objects.get(run_id=run)
    assert (effect.state, effect.value) == ("verified", {"amount": amount, "currency": currency})


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        (5800, "verified present"),
        (5800.0, "verified present"),
        ("5800", "verified present"),
        ("58", "stuck differs"),
        ("5,800", "stuck unknown"),
    ],
)
def test_the_providers_form_of_an_amount_is_compared_in_minor_units(story: Story, said: Any, becomes: str) -> None:
    book = story.world.book
    write = book.write
    book.write = lambda thing, body: write(thing, body and {**body, "minor": said})  # type: ignore[method-assign]
    run = opened(story)
    assert ask(story, run, amount=5800, currency="JPY")[0] == 202
    story.settle()
    effect = Effect.objects.get(run_id=run)
    assert f"{effect.state} {effect.world}" == becomes
    assert len(story.world.wire("POST")) == 1


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"amount": 80.6, "currency": "USD"}, "arguments.amount"),
        ({"amount": 5800.0, "currency": "JPY"}, "arguments.amount"),
        ({"amount": 100, "currency": "euro"}, "arguments.currency"),
    ],
)
def test_a_binary_float_or_no_currency_is_refused_before_anything_is_sent(
    story: Story, arguments: dict[str, Any], path: str
) -> None:
    status, problem = ask(story, opened(story), **arguments)
    assert (status, [error["path"] for error in problem["errors"]]) == (400, [path])
    assert not Effect.objects.exists()


def test_a_payload_that_would_carry_a_float_is_not_sent(story: Story) -> None:
    run = opened(story, '{amount: "${ double(args.amount) / 100.0 }", reference: "${ key }"}')
    assert ask(story, run, amount=8060, currency="USD")[0] == 202
    story.settle()
    effect = Effect.objects.get(run_id=run)
    assert (effect.state, effect.reason, story.world.wire("POST")) == ("failed", "refused", [])
    assert "binary float" in effect.detail


BIG = {"a": 2**53 + 1, "b": 2**70}
TOLD = '{id: "${ body.id }", a: "${ body.a }", b: "${ body.b }"}'
SEEN = TOLD.replace("body.", "body.items[0].")


def test_an_id_that_no_float_can_hold_stays_what_it_is_from_end_to_end(story: Story) -> None:
    """2^53 + 1 goes on as a number and 2^70 as its text; whoever reads them in a browser gets texts."""
    look = manifests.VERIFY.replace("body.items[0].email != args.email", "false")
    first = manifests.tool(
        "t.first",
        "contacts",
        json=f'{{a: {BIG["a"]}, b: {BIG["b"]}, reference: "${{ key }}"}}',
        result=TOLD,
        verify=look.replace('{id: "${ body.items[0].id }"}', SEEN),
    )
    second = manifests.tool(
        "t.second",
        "members",
        json='{a: "${ args.a }", b: "${ args.b }", reference: "${ key }"}',
        arguments="{type: object, properties: {email: {type: string}, a: {}, b: {}}}",
        verify=look,
    )
    after = '{email: "${ input.email }", a: "${ steps.first.result.a }", b: "${ steps.first.result.b }"}'
    steps = [manifests.step("first", "t.first"), manifests.step("second", "t.second", arguments=after)]
    story.apply(manifests.manifest([first, second], [manifests.workflow("onboarding", *steps)]))
    run = story.agent.start()
    story.settle()
    sent = story.world.wire("POST", "/members")[0].body
    assert (sent["a"], sent["b"]) == (BIG["a"], str(BIG["b"]))
    shown = story.agent.get(f"runs/{run}")["effects"][0]["result"]
    assert (shown["a"], shown["b"]) == (str(BIG["a"]), str(BIG["b"]))
