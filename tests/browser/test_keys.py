"""A run read without a mouse: from the list to its drawing, along its steps, into one, and to what happened when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
FOCUSED = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"


def test_a_run_can_not_be_read_without_a_mouse_or_in_another_order(scene: dict[str, Any], enter: Make) -> None:
    page: Page = enter()
    keys = page.keyboard
    keys.press("g")
    keys.press("u")
    page.wait_for_url("**/runs/")
    row = page.locator(f'a[data-row][href="/runs/{scene["run"].id}/"]')
    for _ in range(page.locator("[data-row]").count()):
        keys.press("j")
        if row.evaluate("element => element === document.activeElement"):
            break
    keys.press("o")
    page.wait_for_url(f"**/runs/{scene['run'].id}/")
    page.get_by_role("region", name="Drawing of the run's steps").focus()
    order = []
    for _ in range(4):
        keys.press("Tab")
        order.append(page.evaluate(FOCUSED))
    assert [said.split(",")[0] for said in order] == [
        "step create_contact",
        "step book",
        "undo of book",
        "step confirm",
    ]
    assert "can't be undone" in order[3]
    keys.press("Enter")
    page.wait_for_url("**/effects/**")
    page.go_back()
    page.get_by_role("link", name="In time").focus()
    keys.press("Enter")
    page.wait_for_url("**/time")
    expect(page.get_by_role("heading", name="The same as a table")).to_be_visible()


def test_what_is_drawn_of_an_undoing_or_for_good_is_told_by_colour_alone(scene: dict[str, Any], enter: Make) -> None:
    page: Page = enter()
    page.goto(f"/runs/{scene['run'].id}/")
    dashes = "element => getComputedStyle(element).strokeDasharray"
    assert page.locator(".plan .undoing .edge-of").first.evaluate(dashes) != "none"
    assert page.locator(".plan .node:not(.undoing) .edge-of").first.evaluate(dashes) == "none"
    assert page.locator(".plan .inner").count() == 1, "a second border around what can't be undone"
    page.goto(f"/runs/{scene['well'].id}/")
    expect(page.locator(".plan .ask")).to_have_text(["?"])


def test_a_key_does_not_lead_to_its_place_or_back_to_where_the_page_belongs(scene: dict[str, Any], enter: Make) -> None:
    page: Page = enter()
    keys, case = page.keyboard, scene["case"]
    for key, place in (("r", "reports"), ("p", "policies"), ("j", "journal"), ("t", "tools"), ("u", "runs")):
        keys.press("g")
        keys.press(key)
        page.wait_for_url(f"**/{place}/")
    effect = f"/runs/{scene['run'].id}/effects/"
    page.goto(f"/runs/{scene['run'].id}/")
    page.locator(f'.plan a[href^="{effect}"]').first.focus()
    keys.press("Enter")
    page.wait_for_url(f"**{effect}*")
    keys.press("e")
    expect(page.get_by_role("heading", name="Looks")).to_be_focused()
    for place in (f"/runs/{scene['run'].id}/", "/runs/", "/"):
        keys.press("u")
        page.wait_for_url(f"**{place}")
    page.goto("/")
    keys.press("/")
    expect(page.locator('input[name="q"]')).to_be_focused()
    page.wait_for_url("**/repairs/#search")
    page.goto("/repairs/?view=all&q=harper")
    keys.press("j")
    keys.press("o")
    page.wait_for_url(f"**/repairs/{case.number}/")
    keys.press("e")
    expect(page.get_by_role("heading", name="Evidence", exact=True)).to_be_focused()
    keys.press("u")
    page.wait_for_url("**/repairs/?view=all&q=harper")
