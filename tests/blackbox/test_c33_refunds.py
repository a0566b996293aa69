"""C33: what stands is read before each undoing. Never is more paid back than was taken, by whoever."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox.conftest import Story
from tests.blackbox.updates import REFUSE
from workflows.engine import people
from workflows.models import Effect

PAY = """
tools:
  pay.charge:
    version: 1
    kind: http
    profile: {effect_class: reversible_with_cost, access: write, environment: trusted,
              observability: authoritative_read, autonomy: auto, privileges: [pay], owner: finance-desk,
              customer_visible: true, residue: "The customer was charged."}
    idempotency: {by: native_key, retention: 1h}
    scopes: ["pay:${ args.email }"]
    value: {amount: "${ args.amount }", currency: "EUR"}
    arguments: {type: object, required: [email, amount], properties: {email: {type: string}, amount: {type: integer}}}
    retry: {attempts: 4, first: 10ms, max: 40ms, within: 5m}
    limits: {breaker: {after: 1000, within: 1s}}
    execute:
      method: POST
      url: "${ env.WORLD_URL }/charges"
      headers: {Idempotency-Key: "${ key }"}
      json: {amount: "${ args.amount }", reference: "${ key }", refunded: 0, disputed: false}
      late: 200ms
      result: {id: "${ body.id }"}
    verify:
      url: "${ env.WORLD_URL }/charges?reference=${ key }"
      found: "size(body.items) == 1"
      absent: "size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
      settle: 100ms
      every: 30ms
      looks: 3
      within: 2m
    compensate:
      before:
        url: "${ env.WORLD_URL }/charges/${ result.id }"
        blocked: "body.disputed"
        done: "body.refunded >= args.amount"
        remaining: "${ body.amount - body.refunded }"
        says: "${ has(body.by) ? body.by : '' }"
      method: POST
      url: "${ env.WORLD_URL }/refunds"
      json: {charge: "${ result.id }", amount: "${ remaining }", reference: "${ key }"}
      acknowledged: "status in [200, 201] && has(body.id)"
      timeout: 5s
      late: @late@
      verify:
        url: "${ env.WORLD_URL }/charges/${ result.id }"
        found: "body.refunded >= args.amount"
        absent: "body.refunded < args.amount"
        settle: @settle@
        every: 30ms
        looks: 3
        within: 2m
@refuse@workflows:
  sale:
    version: 1
    owner: finance-desk
    input: {type: object, required: [email], properties: {email: {type: string}}}
    steps:
      - {name: charge, tool: pay.charge, arguments: {email: "${ input.email }", amount: 1000}}
      - {name: refused, tool: crm.refuse, arguments: {}}
""".replace("@refuse@", REFUSE)


class Till:
    """The provider's payments: a refund lowers what is left of its charge; others can pay back too."""

    def __init__(self, story: Story) -> None:
        self.story = story
        book = story.world.book
        self.write = book.write
        book.write = self.refunding  # type: ignore[method-assign]

    def refunding(self, thing: Any, body: Any) -> None:
        self.write(thing, body)
        if thing.collection == "refunds":
            self.pay_back(body["amount"])

    def pay_back(self, amount: int, **more: Any) -> None:
        body = self.charge.body or {}
        self.write(self.charge, {**body, "refunded": body["refunded"] + amount, **more})

    @property
    def charge(self) -> Any:
        return next(o for o in self.story.world.book.objects.values() if o.collection == "charges")

    @property
    def paid_back(self) -> int:
        return int(self.charge.body["refunded"])


def charged(story: Story, *, settle: str = "100ms", late: str = "200ms") -> tuple[str, Till, Any]:
    """(the run, the till, the gate): 1000 were charged, and the run turns back once the gate is opened."""
    story.apply(PAY.replace("@settle@", settle).replace("@late@", late))
    till = Till(story)
    story.world.script(method="POST", path="/refusals", answer="422")
    gate = story.world.hold("/refusals")
    run = story.agent.start("sale")
    story.until(lambda: gate.arrived(timeout=0))
    return run, till, gate


def undoing(story: Story, run: str) -> dict[str, Any]:
    found = [e for e in story.agent.get(f"runs/{run}")["effects"] if e["kind"] == "compensation"]
    detail: dict[str, Any] = story.agent.get(f"effects/{found[-1]['id']}")
    return detail


def test_a_charge_that_stands_whole_is_paid_back_whole(story: Story) -> None:
    run, till, gate = charged(story)
    gate.release()
    story.settle()
    assert (till.paid_back, story.agent.get(f"runs/{run}")["state"]) == (1000, "compensated")


def test_what_somebody_else_paid_back_already_counts_as_undone_and_is_not_paid_twice(story: Story) -> None:
    run, till, gate = charged(story)
    till.pay_back(1000, by="the shop's own desk, 12 March")
    gate.release()
    story.settle()
    found = undoing(story, run)
    assert (till.paid_back, story.world.wire("POST", "/refunds")) == (1000, [])
    assert (found["state"], found["result"]["undone_by"]) == ("verified", "somebody else")
    assert found["result"]["says"] == "the shop's own desk, 12 March"
    assert story.agent.get(f"runs/{run}")["state"] == "compensated"


def test_where_less_is_left_a_person_agrees_before_only_the_rest_is_paid_back(story: Story) -> None:
    run, till, gate = charged(story)
    till.pay_back(400)
    gate.release()
    story.settle()
    found = undoing(story, run)
    assert (found["state"], found["reason"], story.world.wire("POST", "/refunds")) == ("stuck", "less_remains", [])
    assert "600 of 1000" in found["detail"]
    assert "less than the whole is left" in story.agent.get(f"runs/{run}")["cases"][0]["sentence"]
    people.undo_rest(Effect.objects.get(id=found["id"]).id, by="person:night desk", why="the 400 were agreed")
    story.settle()
    assert [wire.body["amount"] for wire in story.world.wire("POST", "/refunds")] == [600]
    assert (till.paid_back, story.agent.get(f"runs/{run}")["state"]) == (1000, "compensated")


def test_what_a_person_agreed_to_is_not_sent_once_something_else_is_left(story: Story) -> None:
    run, till, gate = charged(story)
    till.pay_back(400)
    gate.release()
    story.settle()
    people.undo_rest(Effect.objects.get(id=undoing(story, run)["id"]).id, by="person:night desk", why="agreed")
    till.pay_back(300)
    story.settle()
    found = undoing(story, run)
    assert (found["state"], found["reason"], till.paid_back) == ("stuck", "less_remains", 700)
    assert "300 of 1000" in found["detail"]


def test_an_open_dispute_is_a_persons_and_nothing_is_sent(story: Story) -> None:
    run, till, gate = charged(story)
    till.pay_back(0, disputed=True)
    gate.release()
    story.settle()
    found = undoing(story, run)
    assert (found["state"], found["reason"], story.world.wire("POST", "/refunds")) == ("stuck", "disputed", [])
    assert story.agent.get(f"runs/{run}")["cases"][0]["owner"] == "finance-desk"


@pytest.mark.parametrize("lag", [0.0, 1.5], ids=["seen at once", "seen late"])
def test_a_refund_that_books_and_then_resets_is_looked_for_and_not_paid_again(story: Story, lag: float) -> None:
    run, till, gate = charged(story, settle="3s", late="3s")
    story.world.script(method="POST", path="/refunds", answer="cut")
    gate.release()
    story.until(lambda: story.world.wire("POST", "/refunds"))
    if lag:
        story.world.script(method="GET", path="/charges/", read="lagging", lag=lag, times=None)
    story.settle()
    assert (till.paid_back, len(story.world.wire("POST", "/refunds"))) == (1000, 1)
    assert story.agent.get(f"runs/{run}")["state"] == "compensated"


def test_what_stands_cannot_be_read_for_a_while_and_nothing_is_sent_blind(story: Story) -> None:
    run, till, gate = charged(story)
    story.world.script(method="GET", path="/charges/", answer="503", times=2)
    gate.release()
    story.settle()
    assert undoing(story, run)["state"] == "verified"
    sends = undoing(story, run)["attempts"]
    assert [send["outcome"] for send in sends] == ["not_sent", "not_sent", "acknowledged"]
    assert till.paid_back == 1000


@pytest.mark.parametrize(("book", "posts"), [("before", 1), ("never", 2)], ids=["it was done", "it was not"])
def test_a_refund_that_is_said_to_have_failed_and_has_no_id_is_looked_for_first(
    story: Story, book: str, posts: int
) -> None:
    run, till, gate = charged(story)
    story.world.script(method="POST", path="/refunds", answer="error200", book=book)
    gate.release()
    story.settle()
    assert undoing(story, run)["attempts"][0]["outcome"] == "unknown"
    assert (till.paid_back, len(story.world.wire("POST", "/refunds"))) == (1000, posts)
    assert story.agent.get(f"runs/{run}")["state"] == "compensated"
