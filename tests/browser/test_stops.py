"""Stops in a real browser: frozen and lifted by keyboard, and open to everybody in light, dark and narrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.sight import LOOKS, sound
from tests.engine.simulated import World
from workflows import rows
from workflows.authority import stops
from workflows.drain import drain_once
from workflows.models import Credential, Stop

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HOSTILE = 'odd <img src=x onerror="window.__x=1"> \u202eevil\u202c answers'


@pytest.mark.parametrize("look", LOOKS)
def test_stops_shut_nobody_out(look: str, world: World, tool: Make, workflow: Make, begin: Make, enter: Make) -> None:
    tool("mail.send")
    past = stops.freeze("agent", "sim", by="command:root", why="a leak").stop
    stops.lift(past.id, by="person:approver", why="it was none")
    stops.freeze("tool", "mail.send", by="person:night desk", why=HOSTILE)
    now = rows.now()
    lost = Credential(name="CRM", owner="crm-desk", rotates=True, created_at=now, changed_at=now, why=HOSTILE)
    lost.lose(why=HOSTILE)
    lost.save()
    begin(workflow("mail.send"))
    drain_once()
    page = enter(**LOOKS[look])
    for address, name in (("/stops/", "stops"), ("/", "home-frozen")):
        page.goto(address)
        expect(page.get_by_text("Held.", exact=True)).to_be_visible()
        sound(page, f"{name}-{look}")
        assert page.evaluate("window.__x") is None


def test_a_subject_is_frozen_and_lifted_without_a_mouse(world: World, agent: Any, enter: Make) -> None:
    page = enter()
    page.goto("/stops/?target=subject&name=customer:7")
    page.get_by_label("Why", exact=True).focus()
    page.keyboard.type("the customer asked us to stop")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 stop in force")).to_be_visible()
    assert Stop.objects.get().on == "subject customer:7"
    page.get_by_text("Lift it", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("they asked us to go on")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing is frozen")).to_be_visible()
    assert Stop.objects.get().state == "lifted"
