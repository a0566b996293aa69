"""An incident of several cases is turned back by two people in real browsers, by keys alone, to verified undoings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from repairs.acts import bulk, claim
from repairs.bulk import choosing, running
from repairs.desk import desk_for
from repairs.models import Act, Case
from repairs.models.batch import BatchAct
from tests.browser.conftest import someone
from tests.browser.sight import LOOKS, reach, sound
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def incident(world: World, tool: Make, workflow: Make, begin: Make) -> list[Case]:
    """Four runs that hold with a contact and a meeting outside, in the order of their cases."""
    tool("crm.create_contact", residue="A contact record stands in the CRM.", owner="crm-desk")
    tool("calendar.book", residue="A meeting stands in the calendar.", owner="sales-desk")
    tool("mail.confirm")
    flow = workflow("crm.create_contact", "calendar.book", "mail.confirm", on_failure="hold", owner="onboarding-desk")
    for _ in range(4):
        world.script("mail.confirm", "execute", "refused")
        begin(flow)
    drain_once()
    return list(Case.objects.order_by("number"))


def chosen(page: Page, act: str) -> None:
    """From home, by keys, all cases of the first one's cause with that act; leads to the batch."""
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.wait_for_url("**/repairs/")
    reach(page, page.get_by_role("link", name="4 cases of this cause").first)
    page.keyboard.press("Enter")
    page.wait_for_url("**cause=**")
    reach(page, page.locator("#ticks select"))
    page.keyboard.type(act)
    reach(page, page.get_by_role("button", name="with all 4 that are like that"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/batches/*/")


def said(page: Page, why: str) -> None:
    """The act of the page, with its reason, by keys alone."""
    page.keyboard.press("a")
    page.keyboard.type(why)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def test_an_incident_is_turned_back_by_two_people_but_for_what_changed_or_is_held(
    incident: list[Case], desk: Make, world: World
) -> None:
    held, changed, *rest = incident
    other = someone("night-desk", "repairer")
    claim.claim(held.id, by=other)
    keys = set(Effect.objects.filter(run__in=[case.run_id for case in rest]).values_list("key", flat=True))
    day = desk("day-desk", "repairer")
    chosen(day, "Undo what")
    expect(day.get_by_text("3 of 4 would be acted on; skipped: 1 held by others.")).to_be_visible()
    expect(day.locator(".preview")).to_have_count(3)
    expect(day.get_by_text("Sends 2 requests, if policy and stops let it.").first).to_be_visible()
    said(day, "the campaign was called off")
    expect(day.get_by_text("A second person is asked; until then nothing is done.")).to_be_visible()
    claim.claim(changed.id, by=other)
    claim.release(changed.id, by=other)
    before = len(world.sends)
    second = desk("approver", "approver")
    second.keyboard.press("g")
    second.keyboard.press("q")
    second.wait_for_url("**/repairs/")
    reach(second, second.get_by_role("link", name="B-", exact=False))
    second.keyboard.press("Enter")
    second.wait_for_url("**/batches/*/")
    expect(second.get_by_text("2 of 4 would be acted on; skipped: 1 held by others, 1 changed since.")).to_be_visible()
    expect(second.locator(".preview")).to_have_count(2)
    said(second, "read all of them")
    expect(second.get_by_text("is under way.")).to_be_visible()
    running.run()
    day.reload()
    expect(day.get_by_text("4 of 4 met: 2 skipped, 2 under way.")).to_be_visible()
    drain_once()
    expect(day.get_by_text("4 of 4 met: 2 skipped, 2 undone, verified.")).to_be_visible(timeout=10_000)
    reach(day, day.get_by_role("link", name="2 undone, verified"))
    day.keyboard.press("Enter")
    day.wait_for_url("**only=**")
    expect(day.locator("tbody [data-row]")).to_have_count(2)
    assert set(Act.objects.filter(kind="turn_back").values_list("case", flat=True)) == {case.id for case in rest}
    assert len(world.sends) == before + 4
    assert not keys & set(world.things), "what was undone must be gone outside"


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_of_a_batch_that_sends_shuts_anybody_out(
    incident: list[Case], enter: Make, repairer: User, look: str
) -> None:
    other = someone("night-desk", "repairer")
    claim.claim(incident[0].id, by=repairer)
    batch = choosing.freeze(desk_for(other), BatchAct.TURN_BACK, Case.objects.all(), "ticked one by one")
    bulk.ask(batch.id, by=other, why="the campaign was called off", digest=batch.digest)
    page: Page = enter(**LOOKS[look])
    page.goto(f"/repairs/batches/{batch.id}/")
    expect(page.locator(".preview")).to_have_count(3)
    sound(page, f"batch-sends-asked-{look}")
    bulk.confirm(batch.id, by=repairer, why="read all of them", digest=batch.digest)
    running.run()
    page.reload()
    sound(page, f"batch-sends-under-way-{look}")
    drain_once()
    page.goto(f"/repairs/batches/{batch.id}/?only=undone%2C+verified")
    expect(page.locator("tbody [data-row]")).to_have_count(3)
    sound(page, f"batch-sends-done-{look}")
