"""A charge that nobody knows of, looked at again, paid back with a second yes, seen, closed: by mouse and by keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from repairs.models import Case
from tests.browser.sight import LOOKS, reach, sound
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.models import Effect, Run, Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
REFUND = {
    "type": "object",
    "required": ["amount", "account"],
    "properties": {
        "account": {"type": "string", "description": "where the money goes"},
        "amount": {"type": "integer", "minimum": 1, "description": "in cents"},
        "why": {"enum": ["duplicate", "goodwill"]},
        "text": {"type": "string", "description": "what the customer reads on the statement"},
    },
}


@pytest.fixture
def charged(world: World, tool: Make, workflow: Make, begin: Make) -> Case:
    """A charge whose answer was lost, and of which the looks told nothing until a person asks."""
    tool("pay.charge", residue="A charge of 480 EUR to Cole Brothers stands.", undo=False, scopes=["pay:cole"])
    tool("pay.refund", residue="480 EUR were paid back.", undo=False, effect_class="irreversible")
    refund = Tool.objects.get(name="pay.refund")
    refund.spec["arguments"] = REFUND
    refund.save()
    world.script("pay.charge", "execute", "lost_after")
    world.script("pay.charge", "look", *["inconclusive"] * 3, "several", "well")
    run = begin(workflow("pay.charge"))
    Run.objects.filter(id=run.id).update(subject_label="Cole Brothers")
    drain_once()
    return Case.objects.get(run=run)


class Mouse:
    """How a person with a mouse does things; `Keys` does the same without one."""

    def press(self, page: Page, what: Locator) -> None:
        what.click()

    def type(self, page: Page, what: Locator, text: str) -> None:
        what.fill(text)

    def choose(self, page: Page, what: Locator, option: str) -> None:
        what.select_option(label=option)


class Keys(Mouse):
    def press(self, page: Page, what: Locator) -> None:
        reach(page, what)
        page.keyboard.press("Space" if what.get_attribute("type") == "radio" else "Enter")

    def type(self, page: Page, what: Locator, text: str) -> None:
        reach(page, what)
        page.keyboard.press("ControlOrMeta+a")  # in place of what is there, as `fill` does
        page.keyboard.type(text)

    def choose(self, page: Page, what: Locator, option: str) -> None:
        reach(page, what)
        page.keyboard.type(option)
        expect(what.locator("option:checked")).to_have_text(option)


@pytest.mark.parametrize("hand", [Mouse(), Keys()], ids=["mouse", "keys"])
def test_an_unknown_charge_is_looked_at_again_paid_back_with_a_second_yes_seen_and_closed(
    charged: Case, desk: Make, hand: Mouse, world: World
) -> None:
    night, address = desk("night-desk", "repairer"), f"/repairs/{charged.number}/"
    night.goto(address)
    hand.type(night, night.locator("#why-next"), "what does the bank say now?")
    hand.press(night, night.get_by_role("button", name="Look again"))
    expect(night.get_by_text("The engine looks again")).to_be_visible()
    drain_once()
    night.goto(address)
    expect(night.get_by_text("there more than once").first).to_be_visible()

    hand.press(night, night.get_by_role("link", name="Make good by a new act"))
    hand.choose(night, night.get_by_label("Tool"), "pay.refund, can't be undone")
    hand.choose(night, night.get_by_label("Makes good"), "charge")
    hand.press(night, night.get_by_role("button", name="Go on"))
    hand.type(night, night.get_by_label("account"), "DE-7")
    hand.press(night, night.get_by_role("button", name="Show what it sends"))
    expect(night.get_by_text("is missing")).to_be_visible()
    hand.type(night, night.get_by_label("amount"), "48000")
    hand.type(night, night.get_by_label("Why", exact=True), "charged twice")
    hand.press(night, night.get_by_role("button", name="Show what it sends"))
    expect(night.get_by_text("Another person must say yes first")).to_be_visible()
    expect(night.get_by_text("Sends exactly this")).to_be_visible()
    hand.press(night, night.get_by_role("button", name="Send it"))
    expect(night.get_by_text("The engine sends it as soon as policy")).to_be_visible()
    drain_once()
    assert not [key for name, _, key in world.sends if name == "pay.refund"], "it left before anybody said yes"

    day = desk("day-desk", "approver")
    day.goto("/approvals/")
    hand.press(day, day.get_by_role("link", name="pay.refund", exact=False).first)
    expect(day.get_by_role("heading", name="Making good by pay.refund", exact=False)).to_be_visible()
    sound(day, "remedy-approval")
    right = day.get_by_role("radio", name="48000", exact=True)
    if isinstance(hand, Keys):
        reach(day, day.get_by_role("radio").first)
        for _ in range(6):
            if right.is_checked():
                break
            day.keyboard.press("ArrowDown")
    else:
        right.check()
    hand.type(day, day.get_by_label("Why"), "the bank shows both")
    hand.press(day, day.get_by_role("button", name="Approve"))
    expect(day.get_by_text("Approved; not sent yet.")).to_be_visible()
    drain_once()
    made = Effect.objects.get(kind="remedy")
    assert (made.state, world.made.count(made.key)) == ("verified", 1)

    night.goto(address)
    expect(night.get_by_text("a remedy for").first).to_be_visible()
    hand.type(night, night.locator("#why-next"), "is one left?")
    hand.press(night, night.get_by_role("button", name="Look again"))
    expect(night.get_by_text("The engine looks again")).to_be_visible()
    drain_once()
    night.goto(address)
    expect(night.get_by_text("Nothing of this run needs a person any more.").first).to_be_visible()
    assert (Run.objects.get(id=charged.run_id).state, Case.objects.get(id=charged.id).state) == ("repaired", "resolved")


@pytest.mark.parametrize("look", LOOKS)
def test_the_pages_of_a_remedy_shut_nobody_out(charged: Case, desk: Make, look: str) -> None:
    page = desk("night-desk", "repairer", **LOOKS[look])
    page.goto(f"/repairs/{charged.number}/remedy")
    sound(page, f"remedy-choose-{look}")
    charge = Effect.objects.get(run=charged.run_id)
    page.goto(f"/repairs/{charged.number}/remedy?tool=pay.refund&makes_good={charge.id}&message=twice")
    sound(page, f"remedy-fields-{look}")
    page.get_by_label("account").fill("DE-7")
    page.get_by_label("amount").fill("all of it")
    page.get_by_role("button", name="Show what it sends").click()
    expect(page.get_by_text("must be a whole number")).to_be_visible()
    sound(page, f"remedy-wrong-{look}")
    page.get_by_label("amount").fill("48000")
    page.get_by_label("Why", exact=True).fill("charged twice")
    page.get_by_role("button", name="Show what it sends").click()
    sound(page, f"remedy-shown-{look}")
    page.get_by_role("button", name="Send it").click()
    drain_once()
    page.goto(f"/repairs/{charged.number}/")
    sound(page, f"remedy-case-{look}")
