"""Cases between people, in real browsers: two claim at once, and one hands over to another. By keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from repairs.models import Act, Case
from tests.browser.sight import reach, sound

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def by_keys(page: Page, label: str, text: str) -> None:
    reach(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


def test_two_people_claim_at_once_and_the_second_keeps_what_they_typed(scene: dict[str, Any], desk: Make) -> None:
    case: Case = scene["case"]
    address = f"/repairs/{case.number}/"
    day, night = desk("day-desk", "repairer"), desk("night-desk", "repairer")
    day.goto(address)
    expect(day.get_by_text("has this case open")).to_be_hidden()
    night.goto(address)
    expect(night.get_by_text("day-desk has this case open since")).to_be_visible()
    night.keyboard.press("a")
    night.keyboard.type("they say it is gone")
    day.keyboard.press("c")
    expect(day.get_by_text("is yours for 15 min.")).to_be_visible()
    night.keyboard.press("Tab")
    night.keyboard.press("Enter")
    expect(night.get_by_text("day-desk holds", exact=False).first).to_be_visible()
    expect(night.get_by_label("What you had typed")).to_have_value("they say it is gone")
    sound(night, "claim-refused")
    assert not Act.objects.filter(kind="look_again").exists()
    reach(night, night.locator("#why-claim"))
    night.keyboard.type("day-desk is at lunch")
    night.keyboard.press("Tab")
    night.keyboard.press("Enter")
    expect(night.get_by_text("is yours for 15 min.")).to_be_visible()
    day.goto("/")
    expect(day.get_by_text("over from you")).to_be_visible()
    sound(day, "claim-taken")
    reach(day, day.get_by_role("button", name="I know"))
    day.keyboard.press("Enter")
    day.wait_for_url(f"**{address}")
    expect(day.get_by_text("over from you")).to_be_hidden()
    expect(day.get_by_text("“day-desk is at lunch”")).to_be_visible()


def test_what_was_typed_is_gone_after_the_page_was_loaded_anew(scene: dict[str, Any], desk: Make) -> None:
    page = desk("day-desk", "repairer")
    page.goto(f"/repairs/{scene['case'].number}/")
    page.keyboard.press("a")
    page.keyboard.type("half a sentence")
    page.reload()
    expect(page.locator("#why-next")).to_have_value("half a sentence")
    page.keyboard.press("a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The engine looks again")).to_be_visible()
    page.reload()
    assert all(not one.input_value() for one in page.get_by_label("Why", exact=True).all())


def test_a_hand_over_that_is_loaded_anew_is_left_for_its_case_or_loses_what_was_typed(
    scene: dict[str, Any], desk: Make
) -> None:
    case: Case = scene["case"]
    desk("night-desk", "repairer")
    day = desk("day-desk", "repairer")
    day.goto(f"/repairs/{case.number}/hand-over")
    day.get_by_label("To whom").select_option("night-desk")
    day.get_by_label("What is going on").fill("they call back at six")
    Case.objects.filter(id=case.id).update(seq=99)
    day.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    day.get_by_role("link", name="Load it anew").click()
    expect(day.get_by_text("This case changed since you opened it.")).to_be_hidden()
    expect(day.get_by_role("heading", name=f"Hand over {case.name}")).to_be_visible()
    expect(day.get_by_label("What is going on")).to_have_value("they call back at six")
    expect(day.get_by_label("To whom")).to_have_value("night-desk")


def test_one_hands_over_and_the_other_reads_it_back_by_keyboard_alone(scene: dict[str, Any], desk: Make) -> None:
    case: Case = scene["case"]
    day, night = desk("day-desk", "repairer"), desk("night-desk", "repairer")
    day.goto(f"/repairs/{case.number}/")
    day.keyboard.press("h")
    day.wait_for_url("**/hand-over")
    reach(day, day.get_by_label("To whom"))
    day.keyboard.type("night")
    day.keyboard.press("Tab")
    day.keyboard.type("it may")
    by_keys(day, "What is going on", "they call back at six")
    by_keys(day, "What to do if", "if they don't, call them")
    sound(day, "hand-over")
    day.keyboard.press("Tab")
    day.keyboard.press("Enter")
    expect(day.get_by_text("waits for the read-back; until then it is yours")).to_be_visible()
    sound(day, "hand-over-case")

    night.goto("/")
    expect(night.get_by_text("1 hand-over waits for your read-back.")).to_be_visible()
    sound(night, "hand-over-home")
    reach(night, night.get_by_role("link", name="Read", exact=True))
    night.keyboard.press("Enter")
    expect(night.get_by_role("heading", name="Repair queue")).to_be_visible()
    night.keyboard.press("j")
    night.keyboard.press("o")
    night.wait_for_url(f"**/repairs/{case.number}/")
    night.keyboard.press("h")
    night.wait_for_url("**/read-back")
    night.keyboard.press("a")
    night.keyboard.type("a meeting stands; I wait until six, then call")
    sound(night, "read-back")
    night.set_viewport_size({"width": 390, "height": 844})
    sound(night, "read-back-narrow")
    night.keyboard.press("Tab")
    night.keyboard.press("Enter")
    expect(night.get_by_text(f"{case.name} is yours now.")).to_be_visible()
    day.goto("/")
    expect(day.get_by_text("it is theirs now")).to_be_visible()
    assert Case.objects.get(id=case.id).claimed_by == User.objects.get(username="night-desk")
    assert Act.objects.get(kind="accept").why == "a meeting stands; I wait until six, then call"
