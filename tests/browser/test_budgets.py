"""Budgets in a real browser: raised by two people, readable in every look, deaf to bad text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import expect

from tests.authority.purse import give, of_run, priced
from tests.browser.sight import LOOKS, sound
from tests.engine.simulated import World
from workflows.authority import raising
from workflows.drain import drain_once
from workflows.models import Budget, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def ran_out(world: World, tool: Make, workflow: Make, begin: Make) -> Budget:
    """A run that may pay 50 euros and would pay 49.99 once more."""
    priced(tool("pay.out"))
    flow = workflow("pay.out", "pay.out")
    for n, step in enumerate(flow.spec["steps"]):
        step.update(name=f"pay{n}", after=[], arguments={"amount": 4999})
    flow.save()
    run: Run = begin(flow, budget={"money": {"EUR": 5000}, "seconds": 60, "customers": 1})
    Run.objects.filter(id=run.id).update(subject_label="</td><b>Cole\u202e Brothers")
    drain_once()
    return of_run(run)


def test_who_runs_out_is_found_and_asked_for_and_a_second_person_confirms(
    ran_out: Budget, enter: Make, repairer: User, world: World
) -> None:
    page = enter()
    page.goto("/tools/")
    page.get_by_role("link", name="Budgets").click()
    page.get_by_role("link", name=f"run {ran_out.name}").click()
    page.get_by_label("EUR, minor units").fill("10000")
    page.get_by_label("Why").fill("both invoices are due")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_text("A second person is asked")).to_be_visible()
    expect(page.get_by_text("You asked for it; another person must confirm.")).to_be_visible()
    change = ran_out.changes.get()
    raising.answer(change.id, yes=True, by="person:second", why="agreed")
    drain_once()
    page.reload()
    expect(page.get_by_text("Nothing waits for this budget.")).to_be_visible()
    assert len(world.made) == 2


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_of_budgets_shuts_anybody_out(ran_out: Budget, enter: Make, repairer: User, look: str) -> None:
    repairer.groups.set(Group.objects.filter(name__in=["operator", "approver"]))
    give("agent:sim", per="day", EUR=20000, calls=100)
    raising.change(ran_out.owner, "ever", {"EUR": 9999}, by="person:\u202enight <b>", why="</p><script>x</script>" * 9)
    page = enter(**LOOKS[look])
    for name, address in (("budgets", "/budgets/"), ("budget", f"/budgets/{ran_out.id}/")):
        page.goto(address)
        sound(page, f"{name}-{look}", whole=look in ("light", "dark"))
