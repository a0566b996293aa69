"""How browser tests look at a page: kept as a picture, open to everybody, inside its window, all reached by Tab."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

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


def sound(page: Page, name: str, *, whole: bool = True) -> None:
    """`whole` False: the rest was checked in another look already, by the same style sheet."""
    keep(page, name)
    if whole:
        found = Axe().run(page)
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
    assert page.evaluate(WIDE) == [], f"{name} must be scrolled sideways"


def keep(page: Page, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def reach(page: Page, wanted: Locator) -> None:
    """Tab until it has the focus; a page whose part can't be reached so is shut to some."""
    for _ in range(150):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} can't be reached by Tab")
