"""The record of a case in a browser: written by keyboard alone, the next act first on a narrow page, whole on paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from repairs.models import Act, Evidence

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def top(page: Page, heading: str) -> float:
    box = page.get_by_role("heading", name=heading, exact=True).bounding_box()
    assert box is not None
    return box["y"]


def test_a_fact_with_its_evidence_a_step_and_a_guess_cannot_be_written_down_by_keyboard_alone(
    scene: dict[str, Any], enter: Make
) -> None:
    page = enter()
    page.goto(f"/repairs/{scene['case'].number}/")
    keys = page.keyboard
    page.get_by_text("Write down a fact").focus()
    keys.press("Enter")
    keys.press("Tab")
    keys.type("the desk rang: it is locked; j k c a stay letters")
    keys.press("Tab")
    keys.press("Enter")
    keys.press("Tab")
    keys.type("09:14 locked by <b>organiser</b>")
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_text("Kept as a fact.")).to_be_visible()
    assert Act.objects.get(kind="fact").why == "the desk rang: it is locked; j k c a stay letters"
    page.get_by_role("link", name="text", exact=True).first.focus()
    keys.press("Enter")
    expect(page.get_by_text("09:14 locked by <b>organiser</b>")).to_be_visible()
    with page.expect_download() as coming:
        page.get_by_role("link", name="as a file").click()
    assert coming.value.suggested_filename == "text.txt"
    page.go_back()
    page.get_by_role("button", name="Step 1: done, as expected").focus()
    keys.press("Enter")
    expect(page.get_by_text("Kept your place.")).to_be_visible()
    expect(page.get_by_role("button", name="Step 1: done, as expected")).to_have_count(0)
    expect(page.locator("#step-2")).to_be_focused()
    keys.press("Tab")
    expect(page.get_by_role("button", name="Step 2: done, as expected")).to_be_focused()
    assert Evidence.objects.count() == 1


def test_a_narrow_page_begins_with_anything_but_the_next_safe_act(scene: dict[str, Any], enter: Make) -> None:
    page = enter(viewport={"width": 390, "height": 844})
    page.goto(f"/repairs/{scene['case'].number}/")
    assert top(page, "Next safe act") < top(page, "What is true outside") < top(page, "What was done")


def test_who_has_a_case_is_claimed_or_handed_on_at_the_end_of_a_narrow_page(scene: dict[str, Any], enter: Make) -> None:
    page = enter(viewport={"width": 390, "height": 844})
    page.goto(f"/repairs/{scene['case'].number}/")
    claim, hand_over = page.get_by_role("button", name="Claim"), page.get_by_role("link", name="Hand it over")
    far = [one.evaluate("one => one.getBoundingClientRect().bottom") for one in (claim, hand_over)]
    assert max(far) < 2 * 844, "within the first two screens"
    for leads, to in (("Who has it", "Nobody holds it"), ("All that can be done", "Make good")):
        page.evaluate("scrollTo(0, 0)")
        link = page.get_by_role("link", name=leads)
        expect(link).to_be_in_viewport()
        link.click()
        expect(page.get_by_role("heading", name=to)).to_be_in_viewport()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('aside') !== null"), "the keyboard goes on from there"
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.get_by_role("link", name="All that can be done")).to_be_hidden()


def test_a_case_on_paper_lacks_its_record_or_shows_what_only_a_screen_can_do(
    scene: dict[str, Any], enter: Make
) -> None:
    page = enter()
    page.goto(f"/repairs/{scene['case'].number}/")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # a sheet of A4 between its margins
    for heading in ("Next safe act", "What is true outside", "Facts and guesses", "The customer", "What was done"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    shown = page.locator("main button:visible, main textarea:visible, main input:visible, main summary:visible")
    assert shown.count() == 0, shown.evaluate_all("all => all.map(one => one.outerHTML)")
    assert page.locator("table.world thead").is_visible(), "a table on paper is a table"
    assert page.pdf(format="A4").startswith(b"%PDF-")
