"""Text that attacks its reader, on every page in a real browser: nothing runs, nothing is missing, all is seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page

from repairs.acts import glass
from repairs.bulk import choosing
from repairs.desk import desk_for
from repairs.models import Act, Case, Evidence, SavedView
from repairs.models.batch import BatchAct
from repairs.models.glass import Broken
from repairs.site import site
from tests.authority.walk import routes
from tests.engine.simulated import World
from workflows.authority import keys, policies, raising, stops
from workflows.authority.staff import UNDECIDING
from workflows.drain import drain_once
from workflows.models import Agent, Approval, Attempt, Decision, Effect, Run, Workflow

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

MARKUP = '</script><img src=x onerror=window.__x=1>" autofocus onfocus=window.__x=1 a="'
ASKS = "<b hx-get=/stops/ hx-trigger=load data-hx-on:load=window.__x=1>"
CUT = "<SCRIPT/Q"  # unclosed: cuts off the rest of a page that takes it for a tag
TURNED = "pay \u202e001\u202c EUR \u2066x\u2069"
UNSEEN = "file\u200b.txt\ufeff \U000e0064\U000e0065"
HOSTILE = f"{MARKUP}{TURNED}{UNSEEN}{ASKS}{CUT}"
LONG = HOSTILE * 90 + " " * 400 + "the end"  # an argument of more than 10 kB
SEEN = [MARKUP[:40], "[U+202E]", "[U+200B]", "[U+E0064]", CUT]
RAW = "\u202e\u202c\u2066\u2069\u200b\ufeff\U000e0064"

DRAFT = "policy: next\nrules:\n  - {name: all, when: 'true', then: allow}\nexpect: [{verdict: allow}]"

# What is the matter with a page; empty where nothing is.
WRONG = """(raw) => {
  const shown = document.documentElement.cloneNode(true), wrong = [];
  shown.querySelectorAll("option").forEach((one) => one.removeAttribute("value"));  // sent, and not seen
  const text = shown.outerHTML;
  if (window.__x !== undefined) wrong.push("something ran");
  if (document.title && !document.querySelector("footer.foot")) wrong.push("the rest of the page is missing");
  if (document.querySelectorAll("img").length > 1) wrong.push("an image that isn't ours");
  if ([...document.querySelectorAll("*")].some(one => [...one.attributes].some(a => a.name.startsWith("on"))))
    wrong.push("an element with a handler");
  const ours = /^(hx-trigger|hx-target|hx-(get|post)=[/][\\w/-]+(news|progress|reading|here)\\b)/;
  for (const one of document.querySelectorAll("*"))
    for (const { name, value } of one.attributes)
      if (/^(data-)?hx-/.test(name) && !ours.test(`${name}=${value}`)) wrong.push(`an element with ${name}`);
  for (const char of raw) if (text.includes(char)) wrong.push(`U+${char.codePointAt(0).toString(16)} as it is`);
  return wrong;
}"""


@pytest.fixture
def attacked(repairer: User, world: World, tool: Make, workflow: Make, begin: Make, agent: Agent) -> dict[str, Any]:
    """A stuck run and one that asks for an approval; all that others may write is hostile. Gives the ids."""
    repairer.groups.set(Group.objects.exclude(name__in=UNDECIDING))  # with one of these they could only look
    name = f"t.{HOSTILE}".replace("/", "|")  # which no address could hold; `apply` takes letters and digits only
    tool(name[:200], residue=HOSTILE, owner=HOSTILE[:100])
    tool("mail.send")
    tool("pay.out", autonomy="ask", owner=HOSTILE[:100])
    world.script("mail.send", "execute", "refused")
    world.script(name[:200], "compensate", "refused")
    flow, asks = workflow(name[:200], "mail.send"), workflow("pay.out")
    for one in (flow, asks):
        one.spec["steps"][0]["arguments"] = {"said": LONG, HOSTILE[:60]: HOSTILE}
        Workflow.objects.filter(id=one.id).update(spec=one.spec)
    run = begin(flow, input={HOSTILE: LONG}, external_id=HOSTILE)
    asking = begin(asks, external_id=HOSTILE)
    label = {"subject_type": HOSTILE[:100], "subject_id": HOSTILE, "subject_label": HOSTILE}
    Run.objects.update(**label, on_behalf_of="")
    drain_once()
    Run.objects.update(end_reason=HOSTILE)
    Effect.objects.update(detail=HOSTILE, external_ref=HOSTILE)
    Attempt.objects.update(reason=HOSTILE, evidence={HOSTILE: HOSTILE})
    Decision.objects.update(reason=HOSTILE, rule=HOSTILE[:100])
    Agent.objects.update(name=HOSTILE[:100], team=HOSTILE[:100], purpose=HOSTILE, on_behalf_of=HOSTILE[:100])
    agent = Agent.objects.get()
    budget, _ = raising.change("all:", "ever", {"calls": 99}, by="person:x", why=HOSTILE)
    made = keys.new_key(agent, by="command", why=HOSTILE, for_whom="")
    case = Case.objects.get(run=run)
    effect = Effect.objects.get(run=run, kind="compensation")
    act = Act.objects.create(
        case=case, kind="propose_write_off", by=repairer, why=HOSTILE, detail=HOSTILE, outcome="proposed",
        at=case.opened_at, effect=effect, facts={"seq": effect.seq},
    )  # fmt: skip
    evidence = Evidence.objects.create(act=act, name=HOSTILE[:100], size=9, sha256="", content=HOSTILE.encode())
    batch = choosing.freeze(desk_for(repairer), BatchAct.CLAIM, Case.objects.all(), HOSTILE[:200])
    batch.state, batch.needs_second, batch.why, batch.asked_at = "asked", True, HOSTILE, case.opened_at
    batch.save()
    kept = {"view": "all", "query": urlencode({"team": HOSTILE}), "saved_at": case.opened_at}
    saved = SavedView.objects.create(user=repairer, name=HOSTILE[:60], **kept)
    return {
        "number": case.number,
        "run_id": run.id,
        "effect_id": effect.id,
        "act_id": act.id,
        "evidence_id": evidence.id,
        "batch_id": batch.id,
        "saved_id": saved.id,
        "glass_id": glass.broke(Broken.WRITE_OFF, act.id, HOSTILE[:400], by=repairer, why=HOSTILE).id,
        "agent_id": agent.id,
        "prefix": keys.prefix_of(made),
        "approval_id": Approval.objects.get(run=asking).id,
        "change_id": "01a22a5b-057c-72a0-91ee-37c73f6d55ff",
        "budget_id": budget.id,
        "policy_id": policies.draft(DRAFT, by="person:x").id,
        "stop_id": stops.freeze("subject", "customer:42", by="person:x", why=HOSTILE).stop.id,
        "name": "mail.send",
        "version": 1,
        "kind": "try_again",
    }


def look(page: Page, address: str) -> str:
    """Opens it; its text. A page that isn't HTML is downloaded and runs nothing."""
    page.goto(address)
    assert page.evaluate(WRONG, RAW) == [], address
    return page.locator("body").inner_text()


def pages(values: dict[str, Any]) -> list[str]:
    """Every address of the console; records are walked by themselves."""
    return [route.address(values) for route in routes() if route.route and not route.route.startswith("admin/")]


@pytest.fixture
def visitor(enter: Make) -> Page:
    """Somebody with every role. What only paints the pages isn't fetched: there are many."""
    page: Page = enter()
    page.route(re.compile(r"\.(css|svg)$"), lambda route: route.fulfill(body=""))
    return page


def test_d01_on_every_page_hostile_text_does_nothing_and_is_seen_literally(
    attacked: dict[str, Any], visitor: Page
) -> None:
    where = set()
    for address in ["/", *pages(attacked)]:
        answer = visitor.request.get(address)
        assert answer.status < 500, f"{address} breaks"
        if answer.status == 200 and "text/html" in answer.headers["content-type"]:  # no act, and no file
            text = look(visitor, address)
            where |= {address} if all(piece in text for piece in SEEN) else set()
    assert len(where) >= 8, where
    assert len(LONG) > 10_000
    whole = look(visitor, f"/approvals/{attacked['approval_id']}/?whole=1")
    assert "the end" in whole, "a call that is approved is shown to its end"
    effect = look(visitor, f"/runs/{attacked['run_id']}/effects/{attacked['effect_id']}")
    assert re.search(r"cut: 4,000 of 1\d,\d{3} characters", effect), "what is cut says so"


@pytest.mark.parametrize("half", [0, 1])
def test_d01_in_every_record_hostile_text_does_nothing(attacked: dict[str, Any], visitor: Page, half: int) -> None:
    for model in list(site._registry)[half::2]:
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        look(visitor, base)
        rows = min(model._default_manager.count(), 50)
        assert visitor.locator("tbody tr").count() == rows, f"{base}: a row is missing"
        if (row := model._default_manager.first()) is not None:
            look(visitor, f"{base}{row.pk}/")
