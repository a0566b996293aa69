"""The console in a real browser: accessible in light, dark and narrow, by keyboard alone, and deaf to hostile text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from repairs.models import Act
from tests.browser.conftest import NAME, PASSWORD
from tests.engine.simulated import World
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

# What is wider than its place, but for what is meant to be scrolled.
WIDE = """[...document.querySelectorAll("html, .card, .panel, .head")]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className || one.tagName)"""
# What the pages looked like is kept for whoever reviews a run.
PICTURES = Path(os.environ.get("MAKEGOOD_PICTURES", "") or Path(__file__).parents[2] / ".pictures")
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1100, "height": 900}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}


def keep(page: Page, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def test_the_login_page_shuts_nobody_out(browser: Any, live_server: Any, watched: Make) -> None:
    page = watched(browser.new_page(base_url=live_server.url))
    page.goto("/")
    keep(page, "login")
    assert Axe().run(page).violations_count == 0
    page.close()


def test_a_case_is_reached_and_acted_on_without_a_mouse(
    scene: dict[str, Any], world: World, browser: Any, live_server: Any, watched: Make
) -> None:
    page = watched(browser.new_page(base_url=live_server.url))
    page.goto("/")
    keys = page.keyboard
    keys.type(NAME)
    keys.press("Tab")
    keys.type(PASSWORD)
    keys.press("Enter")
    page.wait_for_url(live_server.url + "/")
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    keys.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    keys.press("g")
    keys.press("q")
    page.wait_for_url("**/repairs/")
    row = page.get_by_role("link", name="Harper Ltd: a meeting with Harper Ltd stands", exact=False)
    for _ in range(page.locator("[data-row]").count()):
        keys.press("j")
        if row.evaluate("element => element === document.activeElement"):
            break
    keys.press("o")
    page.wait_for_url(f"**/repairs/{scene['case'].number}/")
    keys.press("c")
    expect(page.get_by_text("is yours for 15 min.")).to_be_visible()
    keys.press("a")
    expect(page.locator("#why-next")).to_be_focused()
    keys.type("gone? the desk removed it; j k o c stay letters here")
    world.things.clear()
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_text("The engine looks again")).to_be_visible()
    assert Act.objects.get(kind="look_again").why == "gone? the desk removed it; j k o c stay letters here"
    drain_once()
    page.reload()
    expect(page.get_by_text("Nothing of this run needs a person any more.").first).to_be_visible()
    page.close()


def test_keys_can_be_shown_and_turned_off(enter: Make) -> None:
    page = enter()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.get_by_label("Single keys act").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
    page.reload()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
