"""What people decide about a run as a whole, and what two of them leave as it is: seen before, by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from repairs.models import Case
from tests.browser.sight import reach, sound
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.authority import stops
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def fill_in(page: Page, summary: str, why: str, button: str) -> None:
    """Opens an act, reads what it sends, gives the reason and asks for it; all of it by keys."""
    reach(page, page.locator("summary").get_by_text(summary, exact=True))
    page.keyboard.press("Enter")
    form = page.locator("details[open] form, section.ask form").filter(has=page.get_by_role("button", name=button))
    expect(form.locator(".preview")).to_be_visible()
    reach(page, form.get_by_label("Why"))
    page.keyboard.type(why)
    reach(page, form.get_by_role("button", name=button))
    page.keyboard.press("Enter")


def test_a_held_run_cannot_be_let_go_forward_by_keyboard_alone(
    world: World, tool: Make, workflow: Make, run_through: Make, enter: Make
) -> None:
    for name in ("crm.contact", "cal.book", "mail.send"):
        tool(name)
    world.script("cal.book", "execute", "refused")
    run = run_through(workflow("crm.contact", "cal.book", "mail.send", on_failure="hold"))
    page = enter()
    page.goto(f"/repairs/{Case.objects.get(run=run).number}/")
    fill_in(page, "Let the run go forward again", "the desk unlocked it", "Let the run go forward again")
    expect(page.get_by_text("The run goes forward again; what its steps do appears here.")).to_be_visible()
    drain_once(slots=8)
    page.reload()
    expect(page.get_by_text("repairer let the run go forward again")).to_be_visible()
    assert again(run).state == "repaired"


def test_a_run_without_a_case_cannot_be_cancelled_by_keyboard_alone(
    world: World, tool: Make, workflow: Make, begin: Make, enter: Make
) -> None:
    for name in ("crm.contact", "cal.book"):
        tool(name)
    stops.freeze("tool", "cal.book", by="person:operator", why="x")
    run = begin(workflow("crm.contact", "cal.book"))
    drain_once(slots=8)
    page = enter()
    page.goto(f"/runs/{run.id}/")
    sound(page, "run-no-case")
    reach(page, page.locator("summary").get_by_text("Open a case, to cancel it, stop it or make good"))
    page.keyboard.press("Enter")
    reach(page, page.get_by_label("Why"))
    page.keyboard.type("the customer called: it is the wrong one")
    sound(page, "run-open-case")
    reach(page, page.get_by_role("button", name="Open the case"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("is open, and yours. Nothing was sent; what is to be done is done here.")).to_be_visible()
    sound(page, "case-opened-by-hand")
    fill_in(page, "Cancel the run: undo what stands", "they want none of it", "Cancel the run: undo what stands")
    expect(page.get_by_text("Cancelled; what stands is undone, in order")).to_be_visible()
    drain_once(slots=8)
    page.reload()
    reach(page, page.locator("summary").get_by_text("Nothing is wrong any more"))
    page.keyboard.press("Enter")
    form = page.locator("details[open] form").filter(has=page.get_by_role("button", name="Close the case"))
    reach(page, form.get_by_label("Why"))
    page.keyboard.type("they were told")
    reach(page, form.get_by_role("button", name="Close the case"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("is closed.")).to_be_visible()
    assert again(run).state == "compensated"


def test_two_people_leave_a_step_and_the_second_is_not_shown_what_its_run_undoes_then(
    world: World, tool: Make, workflow: Make, run_through: Make, enter: Make, desk: Make
) -> None:
    tool("crm.contact")
    tool("crm.lost", verify=False, keyed=False)
    world.script("crm.lost", "execute", "lost_after")
    run = run_through(workflow("crm.contact", "crm.lost"))
    case = Case.objects.get(run=run)
    page = enter()
    page.goto(f"/repairs/{case.number}/")
    fill_in(page, "Write off lost", "they keep it", "Propose to another person")
    expect(page.get_by_text("A second person is asked; until then nothing is written off.")).to_be_visible()
    other = desk("approver", "approver")
    other.goto(f"/repairs/{case.number}/")
    asked = other.get_by_role("region", name="Proposal to write off")
    expect(asked.get_by_text("Then the run goes on by itself and sends exactly this")).to_be_visible()
    expect(asked.get_by_text("crm.contact, compensate")).to_be_visible()
    sound(other, "write-off-asked")
    reach(other, asked.get_by_label("Why"))
    other.keyboard.type("agreed with the desk")
    reach(other, asked.get_by_role("button", name="Confirm: write off"))
    other.keyboard.press("Enter")
    expect(other.get_by_text("Written off.", exact=True)).to_be_visible()
    drain_once(slots=8)
    assert again(run).state == "written_off"
    assert [operation for _, operation, _ in world.sends].count("compensate") == 1
