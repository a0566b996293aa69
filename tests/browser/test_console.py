"""The console in a real browser: accessible in light, dark and narrow, by keyboard alone, and deaf to hostile text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from repairs.models import Act
from tests.browser.conftest import NAME, PASSWORD
from tests.browser.sight import sound
from tests.engine.simulated import World
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_the_login_page_shuts_nobody_out(browser: Any, live_server: Any, watched: Make) -> None:
    page = watched(browser.new_page(base_url=live_server.url))
    page.goto("/")
    sound(page, "login")
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
