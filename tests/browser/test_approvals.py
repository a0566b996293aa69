"""Approvals, policies and tools in a real browser: whole stories, by keyboard too, in every look, deaf to bad text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from tests.browser.sight import LOOKS, reach, sound
from tests.browser.test_remedy import Keys, Mouse
from tests.engine.simulated import World
from workflows.authority import approvals, dry_run, policies
from workflows.drain import drain_once
from workflows.engine import peek
from workflows.models import Approval, ApprovalVote, Run, Workflow

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
MONEY = {"amount": 48000, "currency": "EUR", "to": "office@cole.example"}
HOSTILE = {
    "amount": 7,
    "to": "pay\u202e001\u202c@cole.example",
    "text": "</script><img src=x onerror=window.__x=1>\n" * 240 + "\n" * 90 + "the end",
}


@pytest.fixture
def asking(world: World, tool: Make, workflow: Make, begin: Make) -> Callable[..., Approval]:
    """A refund that waits for a person's word."""

    def make(arguments: Any = MONEY, label: str = "Cole Brothers", **options: Any) -> Approval:
        limits = {"concurrent": 8, "per_minute": 300, "breaker": {"after": 5, "within": 30.0}}
        tool(
            "pay.refund",
            **{"autonomy": "ask", "effect_class": "irreversible", "undo": False, "limits": limits, **options},
        )
        flow = workflow("pay.refund")
        flow.spec["steps"][0]["arguments"] = arguments
        Workflow.objects.filter(id=flow.id).update(spec=flow.spec)
        run = begin(flow, input={"note": "approve this at once"})
        Run.objects.filter(id=run.id).update(subject_label=label)
        drain_once()
        return Approval.objects.select_related("effect__tool", "run__workflow").get(run=run, state="asked")

    return make


def test_an_approval_is_found_read_answered_and_given_without_a_mouse(asking: Make, enter: Make, world: World) -> None:
    approval = asking()
    page = enter()
    keys = page.keyboard
    keys.press("g")
    keys.press("a")
    page.wait_for_url("**/approvals/")
    keys.press("j")
    keys.press("o")
    page.wait_for_url(f"**/approvals/{approval.id}/")
    expect(page.get_by_role("heading", name="Exactly this call")).to_be_visible()
    keys.press("a")
    expect(page.get_by_role("radio").first).to_be_focused()
    right = page.get_by_role("radio", name="48000", exact=True)
    for _ in range(3):
        keys.press("ArrowDown")
        if right.is_checked():
            break
    keys.press("Tab")
    keys.type("the customer was charged twice; a j k o stay letters here")
    keys.press("Tab")
    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    keys.press("Enter")
    expect(page.get_by_text("Approved; not sent yet.")).to_be_visible()
    assert world.sends == []
    drain_once()
    page.reload()
    expect(page.get_by_text("Approved and used.")).to_be_visible()
    expect(page.get_by_text("verified").first).to_be_visible()
    assert len(world.sends) == 1
    assert ApprovalVote.objects.get().opened_at is not None


def test_a_wrong_answer_to_the_check_question_decides_nothing(asking: Make, enter: Make, world: World) -> None:
    approval = asking()
    page = enter()
    page.goto(f"/approvals/{approval.id}/")
    page.locator("label.choice").filter(has_not_text="48000").first.click()
    page.get_by_label("Why").fill("it looks right")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("That is not what would be sent.")).to_be_visible()
    expect(page.get_by_label("Why")).to_have_value("it looks right")
    drain_once()
    assert (Approval.objects.get().state, world.sends) == ("asked", [])


def test_on_a_narrow_page_the_decision_comes_before_the_call_or_is_out_of_reach(asking: Make, enter: Make) -> None:
    approval = asking()
    page = enter(viewport={"width": 390, "height": 844})
    page.goto(f"/approvals/{approval.id}/")
    heads = page.locator("main h2").all_inner_texts()
    assert heads.index("Exactly this call") < heads.index("The target, read by us") < heads.index("Your decision")
    decision = page.get_by_role("link", name="Your decision")
    expect(decision).to_be_in_viewport()
    decision.click()
    expect(page.get_by_role("heading", name="Your decision")).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio").first).to_be_focused()


HANDS = pytest.mark.parametrize("hand", [Mouse(), Keys()], ids=["mouse", "keys"])


@HANDS
def test_a_target_that_changed_meanwhile_is_seen_before_anything_is_approved(
    asking: Make, enter: Make, world: World, hand: Mouse
) -> None:
    approval = asking()
    page = enter()
    page.goto(f"/approvals/{approval.id}/")
    expect(page.get_by_text("It is not there yet.")).to_be_visible()
    world.things[approval.effect.key] = {"somebody": "was quicker"}
    peek.ask(approval.id)
    drain_once()
    decide(page, hand, "as agreed")
    expect(page.get_by_text("The target was read again since this page was opened")).to_be_visible()
    expect(page.get_by_text("It has changed since it was first read")).to_be_visible()
    expect(page.get_by_text("It is there already, with our mark.")).to_be_visible()
    assert Approval.objects.get().state == "asked"

    world.things.clear()
    hand.press(page, page.get_by_role("button", name="Read it now"))
    expect(page.get_by_text("It is being read now")).to_be_visible()
    hand.type(page, page.get_by_label("Why", exact=True), "typed while it was read")
    drain_once()
    expect(page.get_by_text("It is being read now")).to_be_hidden()
    expect(page.get_by_text("Nothing of it has changed since it was first read")).to_be_visible()
    expect(page.get_by_label("Why", exact=True)).to_have_value("typed while it was read")
    decide(page, hand)
    expect(page.get_by_text("Approved; not sent yet.")).to_be_visible()


def decide(page: Page, hand: Mouse, why: str = "", answer: str = "48000") -> None:
    right = page.get_by_role("radio", name=answer, exact=True)
    if isinstance(hand, Keys):
        reach(page, page.get_by_role("radio").first)
        for _ in range(6):
            if right.is_checked():
                break
            page.keyboard.press("ArrowDown")
    else:
        right.check()
    if why:
        hand.type(page, page.get_by_label("Why", exact=True), why)
    hand.press(page, page.get_by_role("button", name="Approve"))


@HANDS
def test_ten_kilobytes_of_markup_and_turned_text_do_nothing_and_are_read_whole(
    asking: Make, enter: Make, hand: Mouse
) -> None:
    approval = asking(HOSTILE, label="<img src=x onerror=window.__x=1> \u202eGmbH")
    page = enter()
    for address in ("/approvals/", f"/approvals/{approval.id}/", f"/approvals/{approval.id}/?whole=1"):
        page.goto(address)
        assert page.evaluate("window.__x") is None, address
        expect(page.locator("footer.foot")).to_be_visible()
    page.goto(f"/approvals/{approval.id}/")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.get_by_text("3 hidden characters")).to_be_visible()
    hand.press(page, page.get_by_role("link", name="Open the full text"))
    expect(page.locator("pre.foreign").first).to_contain_text("[91 line ends]")
    expect(page.locator("pre.foreign").first).to_contain_text("the end")
    expect(page.locator(".exact .hidden-char").filter(has_text="[U+202E]")).to_be_visible()
    decide(page, hand, "read to the end", answer="7")
    expect(page.get_by_text("Approved; not sent yet.")).to_be_visible()


def test_a_policy_is_drafted_and_activated_by_two_people(
    enter: Make, browser: Any, live_server: Any, repairer: User, watched: Make
) -> None:
    repairer.groups.set(Group.objects.filter(name__in=["operator", "approver"]))
    page = enter()
    page.goto("/policies/")
    page.get_by_role("link", name="Draft a change").click()
    text = page.get_by_label("Text")
    old = text.input_value()
    text.fill(old.replace("autonomy == 'ask'", "autonomie == 'ask'"))
    page.get_by_label("Why").fill("refunds take two")
    page.get_by_role("button", name="Keep as a draft").click()
    expect(page.get_by_text("profile has no autonomie")).to_be_visible()
    page.get_by_label("Text").fill(
        old.replace("rules:\n", "rules:\n  - {name: pause, when: 'false', then: {deny: paused}}\n", 1)
    )
    page.get_by_role("button", name="Keep as a draft").click()
    expect(page.get_by_text("is a draft. Try it on past decisions")).to_be_visible()
    expect(page.get_by_text("You drafted it; another person must activate it.")).to_be_visible()
    page.get_by_role("button", name="Try on past decisions").click()
    expect(page.get_by_text("It would have decided as was decided.")).to_be_visible()
    address = page.url
    other = User.objects.create_user("second", password="a long enough one", is_staff=True)
    other.groups.set(Group.objects.filter(name="approver"))
    second = watched(browser.new_page(base_url=live_server.url))
    second.goto(address)
    second.get_by_label("Name").fill("second")
    second.get_by_label("Password").fill("a long enough one")
    second.get_by_role("button", name="Log in").click()
    second.get_by_role("button", name="Activate").click()
    expect(second.get_by_text("is in force from")).to_be_visible()
    second.close()


def addresses(approval: Approval, spent: Approval, draft: Any) -> dict[str, str]:
    flow = approval.run.workflow
    return {
        "approvals": "/approvals/",
        "approvals-decided": "/approvals/?view=decided",
        "approval": f"/approvals/{approval.id}/",
        "approval-whole": f"/approvals/{approval.id}/?whole=1",
        "approval-used": f"/approvals/{spent.id}/",
        "policies": "/policies/",
        "policy": f"/policies/{draft.id}/",
        "policy-new": "/policies/new?shipped=careful",
        "tools": "/tools/",
        "tool": "/tools/pay.refund/",
        "tool-sends": "/tools/pay.refund/sends?kind=act&outcome=acknowledged",
        "workflow": f"/workflows/{flow.name}/{flow.version}/",
    }


DARK = ("approvals", "approval", "policy", "tool")  # between them, every tone


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_of_authority_shuts_anybody_out(
    asking: Make, enter: Make, repairer: User, look: str, run_through: Make
) -> None:
    repairer.groups.set(Group.objects.filter(name__in=["operator", "approver"]))
    approval = asking({**HOSTILE, "amount": 48000})
    other: Run = run_through(approval.run.workflow)
    spent = Approval.objects.get(run=other)
    approvals.vote(spent.id, by=repairer, why="as agreed", seen_digest=spent.digest)
    drain_once()
    Approval.objects.filter(id=approval.id).update(origin=[{"path": "to", "from": "steps.read.result"}])
    draft = policies.draft(policies.shipped()["careful"], by="person:second", why="to be careful")
    dry_run.dry_run(draft.id, by="person:second")
    page = enter(**LOOKS[look])
    for name, address in addresses(approval, spent, draft).items():
        page.goto(address)
        sound(page, f"{name}-{look}", whole=look == "light" or (look == "dark" and name in DARK))
