"""One act on many cases in a real browser, while others work on them too: by mouse, and by keyboard alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from repairs.acts import claim
from repairs.bulk import running
from repairs.models import Act, Batch, Case
from tests.browser.conftest import someone
from tests.browser.sight import LOOKS, sound
from tests.engine.simulated import World
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def outage(world: World, tool: Make, workflow: Make, begin: Make) -> list[Case]:
    """Four cases of one cause, in the order of their numbers."""
    tool("crm.create_contact", residue="A contact record stands in the CRM.", owner="crm-desk")
    tool("mail.confirm")
    flow = workflow("crm.create_contact", "mail.confirm")
    for _ in range(4):
        world.script("mail.confirm", "execute", "refused")
        world.script("crm.create_contact", "compensate", "refused")
        begin(flow)
    drain_once()
    return list(Case.objects.order_by("number"))


def test_all_of_a_cause_is_looked_at_but_for_what_changed_meanwhile(outage: list[Case], enter: Make) -> None:
    page: Page = enter()
    page.goto("/repairs/")
    page.get_by_role("link", name="4 cases of this cause").first.click()
    claim.claim(outage[0].id, by=someone("night-desk", "repairer"))
    page.get_by_role("button", name="with all 4 that are like that").click()
    expect(page.get_by_text("3 of 4 would be acted on; skipped: 1 held by others.")).to_be_visible()
    expect(page.get_by_text("night-desk holds it until")).to_be_visible()
    claim.claim(outage[1].id, by=User.objects.get(username="night-desk"))
    page.get_by_label("Why").fill("the CRM is back")
    page.get_by_role("button", name="Look again at 3 cases").click()
    expect(page.get_by_text("is under way.")).to_be_visible()
    running.run()
    expect(page.get_by_text("4 of 4 met: 2 skipped, 2 being looked at.")).to_be_visible(timeout=10_000)
    expect(page.get_by_role("heading", name="Done")).to_be_visible(timeout=10_000)  # no button to stop it is left
    drain_once()
    expect(page.get_by_text("4 of 4 met: 2 skipped, 2 still open.")).to_be_visible(timeout=10_000)
    page.reload()
    expect(page.get_by_text("It is not as it was when you chose it; read it anew.")).to_be_visible()
    assert set(Act.objects.filter(kind="look_again").values_list("case", flat=True)) == {c.id for c in outage[2:]}


def test_d02_what_was_ticked_before_the_queue_was_narrowed_is_acted_on(outage: list[Case], enter: Make) -> None:
    page: Page = enter()
    page.goto("/repairs/")
    page.get_by_label(f"Tick {outage[0].name}").check()
    expect(page.get_by_text("(1)", exact=True)).to_be_visible()
    page.get_by_role("searchbox").fill(outage[1].name)
    page.keyboard.press("Enter")
    page.wait_for_url("**q=C-**")
    expect(page.get_by_text("(1)", exact=True)).to_be_hidden()
    page.get_by_label(f"Tick {outage[1].name}").check()
    page.get_by_role("button", name="with the ticked cases").click()
    page.wait_for_url("**/batches/*/")
    assert list(Batch.objects.get().items.values_list("case", flat=True)) == [outage[1].id]


def test_cases_are_ticked_and_claimed_without_a_mouse(outage: list[Case], enter: Make) -> None:
    page: Page = enter()
    keys = page.keyboard
    keys.press("g")
    keys.press("q")
    page.wait_for_url("**/repairs/")
    for key in ("j", "x", "j", "j", "x", "x", "x"):
        keys.press(key)
    expect(page.get_by_text("(2)", exact=True)).to_be_visible()
    ticked = {int(box.get_attribute("value") or 0) for box in page.locator("[data-tick]:checked").all()}
    page.locator("#ticks select").focus()
    keys.press("x")  # in a field it is a letter
    keys.press("ArrowDown")
    expect(page.locator("#ticks select")).to_have_value("claim")
    expect(page.get_by_text("(2)", exact=True)).to_be_visible()
    keys.press("Tab")
    keys.press("Enter")
    page.wait_for_url("**/batches/*/")
    claim.claim(Case.objects.get(number=min(ticked)).id, by=someone("night-desk", "repairer"))
    keys.press("a")
    expect(page.get_by_label("Why")).to_be_focused()
    keys.type("next week's refunds")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_text("is under way.")).to_be_visible()
    running.run()
    expect(page.get_by_text("2 of 2 met: 1 skipped, 1 done.")).to_be_visible(timeout=10_000)
    assert Case.objects.get(claimed_by__username="repairer").number == max(ticked)
    keys.press("g")
    keys.press("q")
    page.wait_for_url("**/repairs/")
    keys.press("n")
    expect(page.get_by_text("is yours for 15 min.")).to_be_visible()
    assert Case.objects.filter(claimed_by__username="repairer").count() == 2


def test_keys_that_were_turned_off_tick_and_claim_nothing(outage: list[Case], enter: Make) -> None:
    page: Page = enter()
    page.goto("/repairs/")
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys act").uncheck()
    page.get_by_role("button", name="Close").click()
    page.locator("[data-row]").first.focus()
    for key in ("x", "n", "b"):
        page.keyboard.press(key)
    assert page.locator("[data-tick]:checked").count() == 0
    assert page.url.endswith("/repairs/")
    assert not Act.objects.exists()


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_of_batches_shuts_anybody_out(outage: list[Case], enter: Make, look: str) -> None:
    page: Page = enter(**LOOKS[look])
    claim.claim(outage[0].id, by=someone("night-desk", "repairer"))
    page.goto("/repairs/")
    page.locator("[data-tick]").nth(0).check()
    page.locator("[data-tick]").nth(1).check()
    sound(page, f"queue-ticked-{look}")
    page.get_by_role("button", name="See what it does with").click()
    page.wait_for_url("**/batches/*/")
    sound(page, f"batch-draft-{look}")
    page.get_by_label("Why").fill("the CRM is back")
    page.get_by_role("button", name="Look again at").click()
    running.run()
    page.reload()
    sound(page, f"batch-done-{look}")
    Batch.objects.update(chosen="\u202e</td><b>hostile" * 6)
    page.goto("/repairs/batches/")
    sound(page, f"batches-{look}")


@pytest.mark.parametrize("look", LOOKS)
def test_a_narrowed_queue_with_saved_views_shuts_nobody_out(outage: list[Case], enter: Make, look: str) -> None:
    page: Page = enter(**LOOKS[look])
    soon = timezone.now() + dt.timedelta(minutes=18)
    Case.objects.filter(id=outage[0].id).update(cutoff=soon, cutoff_reason="then the provider forgets our key")
    page.goto("/repairs/?tool=crm.create_contact&team=crm-desk")
    page.get_by_text("Save this view, or forget one").click()
    page.get_by_label("Name of the view").fill("CRM, each morning")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as CRM, each morning.")).to_be_visible()
    page.get_by_text("Save this view, or forget one").click()
    sound(page, f"queue-narrowed-{look}")
    page.goto("/repairs/")
    page.get_by_role("link", name="CRM, each morning").click()
    expect(page.locator("[data-row]")).to_have_count(4)
