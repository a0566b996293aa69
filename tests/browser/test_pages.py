"""Every page there is, in light and dark, wide and on a phone: open to everybody, quiet, and by itself.

The pages are those of the address map: one that is added is walked as well, and one whose parameters nobody put in here
fails. What they look like is kept in `.pictures`, or in the folder that MAKEGOOD_PICTURES names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Group, User
from django.utils.text import slugify
from playwright.sync_api import Browser, BrowserContext, Page, Request
from pytest_django.live_server_helper import LiveServer

from repairs import presence
from repairs.acts import escalate, glass, hand_over, saved_view, snooze
from repairs.bulk import choosing
from repairs.choice import Choice
from repairs.desk import desk_for
from repairs.models import Act, Case, Evidence
from repairs.models.batch import BatchAct
from repairs.models.glass import Broken
from repairs.site import site
from tests.authority.walk import routes
from tests.browser.conftest import let_in
from tests.browser.sight import WIDE, keep
from workflows.authority import dry_run, keys, policies, raising, stops
from workflows.drain import drain_once
from workflows.models import Agent, Approval, Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

LOOKS = [("light", 1280), ("dark", 1280), ("dark", 390), ("light", 390)]
# Everything is checked once; of the other looks, what a style sheet can break.
STYLED = {
    "runOnly": ["color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block"],
    "resultTypes": ["violations"],
}
LOADED = Axe(axe_script="0")  # into the page it is in already
DRAFT = "policy: next\nrules:\n  - {name: all, when: 'true', then: allow}\nexpect: [{verdict: allow}]"
# The same pages in other states.
FURTHER = (
    "/repairs/?view=closed",
    "/repairs/?view=all&q=harper",
    "/runs/?state=stuck",
    "/runs/{asking}/",
    "/approvals/?view=decided",
    "/approvals/{approval_id}/?whole=1",
    "/policies/new?shipped=careful",
    "/repairs/{aside}/",
    "/repairs/{handed}/hand-over",
    "/repairs/{handed}/read-back",
)
RECORD = ("run", "effect")  # of the records, all are of one template


@pytest.fixture
def furnished(scene: dict[str, Any], repairer: User, tool: Make, workflow: Make, begin: Make) -> dict[str, Any]:
    """Something on every page. Gives what addresses are made of."""
    repairer.is_superuser = True  # who is in all groups may do less: an auditor's pages have no forms
    repairer.save()
    tool("pay.refund", autonomy="ask", effect_class="irreversible", undo=False)
    flow = workflow("pay.refund")
    asking = begin(flow, input={"note": "approve this at once"})
    drain_once()
    agent, case = Agent.objects.get(), scene["case"]
    effect = Effect.objects.get(run=scene["run"], state="stuck")
    act = Act.objects.create(
        case=case, kind="propose_write_off", by=repairer, why="it may stay", outcome="proposed", at=case.opened_at,
        effect=effect, facts={"seq": effect.seq},
    )  # fmt: skip
    aside, handed = Case.objects.live().exclude(id=case.id).order_by("number")[:2]
    other = User.objects.create(username="night-desk", is_staff=True)
    other.groups.set(Group.objects.filter(name="repairer"))
    escalate.escalate(aside.id, by=repairer, to="manager", why="nobody answers there")
    snooze.snooze(aside.id, by=repairer, why="they call back", cause="customer", until="2h", fence=0)
    told = {"severity": "watch", "situation": "they call back at six", "contingency": "if they don't, call them"}
    hand_over.hand_over(handed.id, by=repairer, to="night-desk", fence=0, **told)
    presence.tell(handed.id, user=repairer.pk, by=other, how="taken", now=case.opened_at)
    evidence = Evidence.objects.create(act=act, name="answer.txt", size=4, sha256="", content=b"gone")
    batch = choosing.freeze(desk_for(repairer), BatchAct.CLAIM, Case.objects.all(), "all that stand open")
    batch.state, batch.needs_second, batch.why, batch.asked_at = "asked", True, "one outage", case.opened_at
    batch.save()
    draft = policies.draft(DRAFT, by="person:x")
    dry_run.dry_run(draft.id, by="person:x")
    budget, change = raising.change("all:", "ever", {"calls": 99}, by="person:x", why="a busy month")
    return {
        "number": case.number,
        "aside": aside.number,
        "handed": handed.number,
        "run_id": scene["run"].id,
        "asking": asking.id,
        "effect_id": effect.id,
        "act_id": act.id,
        "evidence_id": evidence.id,
        "batch_id": batch.id,
        "saved_id": saved_view.save(repairer, name="each morning", view="all", choice=Choice(team="sales-desk")).id,
        "glass_id": glass.broke(Broken.WRITE_OFF, act.id, "wrote off a meeting", by=other, why="they slept").id,
        "agent_id": agent.id,
        "prefix": keys.prefix_of(keys.new_key(agent, by="command", why="another host", for_whom="")),
        "approval_id": Approval.objects.get(run=asking).id,
        "change_id": change.id if change else case.id,
        "budget_id": budget.id,
        "policy_id": draft.id,
        "stop_id": stops.freeze("subject", "customer:42", by="person:x", why="they asked").stop.id,
        "name": "pay.refund",
        "version": 1,
        "kind": "try_again",
        "app_label": "workflows",
        "id": repairer.pk,
    }


def addresses(values: dict[str, Any]) -> list[str]:
    """Of all pages, the records' own among them once."""
    records = [f"/admin/workflows/{name}/" for name in RECORD]
    records += [f"/admin/workflows/{name}/{values[f'{name}_id']}/" for name in RECORD]
    walked = [route for route in routes() if "<path:key>" not in route.route and "_changelist" not in route.name]
    found = [route.address({**values, **of(route.name, values)}) for route in walked]
    return list(dict.fromkeys([*found, *(further.format(**values) for further in FURTHER), *records]))


def of(route: str, values: dict[str, Any]) -> dict[str, Any]:
    """A name is a workflow's in a workflow's address."""
    return {"name": Case.objects.get(number=values["number"]).run.workflow.name} if route == "workflow" else {}


@pytest.fixture
def inside(browser: Browser, live_server: LiveServer, repairer: User) -> Iterator[BrowserContext]:
    """Somebody who has logged in. What is asked of any other origin fails the test."""
    context = browser.new_context(base_url=live_server.url)
    let_in(context, repairer, live_server.url)
    elsewhere: list[str] = []

    def heard(request: Request) -> None:
        if not request.url.startswith((live_server.url, "data:")):
            elsewhere.append(request.url)

    context.on("request", heard)
    yield context
    context.close()
    assert elsewhere == []


@pytest.fixture
def alone(inside: BrowserContext, watched: Make) -> Page:
    page: Page = watched(inside.new_page())
    return page


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_no_page_shuts_anybody_out_or_asks_anything_elsewhere(
    furnished: dict[str, Any], alone: Page, part: int
) -> None:
    pages = [address for address in addresses(furnished)[part::PARTS] if is_page(alone, address)]
    assert len(pages) > 3
    for address in pages:
        in_every_look(alone, address)


def in_every_look(page: Page, address: str) -> None:
    page.goto(address)
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        whole = (scheme, width) == LOOKS[0]
        found = Axe().run(page) if whole else LOADED.run(page, options=STYLED)
        assert found.violations_count == 0, f"{address} {scheme} {width}: {found.generate_report()}"
        assert page.evaluate(WIDE) == [], f"{address} must be scrolled sideways at {width}"
        name = slugify(NUMBER.sub("one", address).replace("/", " ")) or "home"
        keep(page, f"{name}-{scheme}-{width}")


NUMBER = re.compile(r"[0-9a-f-]{36}|\b\d+\b")  # ids, so that each run's pictures take the place of the last one's


def is_page(page: Page, address: str) -> bool:
    """Not an act, which takes a POST, not a file, which is never shown, and not a piece of a page."""
    answer = page.request.get(address, max_redirects=0)
    assert answer.status < 500, f"{address} is broken"
    html = answer.status == 200 and "text/html" in answer.headers.get("content-type", "")
    return html and "<html" in answer.text()


def test_what_is_shown_in_place_of_a_page_shuts_somebody_out(inside: BrowserContext) -> None:
    page = inside.new_page()  # unwatched: the browser itself complains of each
    for address in ("/nowhere/", "/repairs/7/claim"):
        in_every_look(page, address)
    inside.clear_cookies()
    in_every_look(page, "/admin/login/")


def test_a_model_whose_records_have_no_page_is_left_out_in_silence(furnished: dict[str, Any], alone: Page) -> None:
    """All lists and records are made by two templates; that each is there is seen without drawing it."""
    for model in site._registry:
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert alone.request.get(base).status == 200, base
