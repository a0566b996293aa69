"""The tools pages: counts that equal the rows behind them, bounds as they are now, and each workflow's gaps, named."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from repairs import usage
from repairs.models import Person
from repairs.words import gauge as gauges
from repairs.words.story import gaps, story
from tests.authority.test_staff import long_ago
from tests.engine.simulated import SimTool, World, spec
from workflows import ledger, rows
from workflows.drain import drain_once
from workflows.engine import findings, trust
from workflows.errors import Invalid
from workflows.models import Attempt, Demotion, Effect, Gauge, Run, Team, Tool
from workflows.tools.draft import Draft

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12
PASSWORD = "a long enough one"


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("reader"))
    return found


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_each_count_of_the_day_opens_exactly_its_rows(stuck: Make, client: Client) -> None:
    stuck()
    stuck()
    pages = [text(client, "/tools/"), text(client, "/tools/crm.contact/")]
    links = {
        link for page in pages for link in re.findall(r'href="(/tools/[^"]+/sends\?[^"]+outcome=[^"]+)">(\d+) ', page)
    }
    assert {("act", "acknowledged"), ("undoing", "refused"), ("act", "refused")} == {
        tuple(re.findall(r"kind=(\w+)&amp;outcome=(\w+)", address)[0]) for address, _ in links
    }
    for address, number in links:
        rows = text(client, address.replace("&amp;", "&")).count("data-row")
        assert rows == int(number) == 2, address


def test_what_is_seen_to_be_undone_is_counted_once_each_and_opens_its_rows(
    stuck: Make, begin: Make, world: World, client: Client
) -> None:
    flow = stuck().run.workflow
    world.script("mail.send", "execute", "refused")
    world.script("crm.contact", "compensate", "lost_before", "well")
    begin(flow)
    drain_once()
    page = text(client, "/tools/crm.contact/")
    found = re.findall(r'href="(/tools/crm.contact/sends\?[^"]+seen=(?:yes|no))">(\d+) (?:of (\d+)|not)', page)
    assert [(number, of) for _, number, of in found] == [("1", "2"), ("1", "")]
    for address, number, _ in found:
        assert text(client, address.replace("&amp;", "&")).count("data-row") == int(number), address


def test_a_busy_day_is_counted_as_far_as_it_says(stuck: Make, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck()
    stuck()
    monkeypatch.setattr(usage, "MOST", 3)
    since = usage.window(timezone.now())
    assert not since.whole
    assert sum(int(number) for number in re.findall(r'/sends\?[^"]+">(\d+) ', text(client, "/tools/"))) == 3
    assert "the latest 3 of the last 24 hours" in text(client, "/tools/")


def test_the_pages_take_few_queries_whatever_their_rows(stuck: Make, tool: Make, client: Client) -> None:
    case = stuck()
    for number in range(20):
        tool(f"other.t{number}")
    flow = case.run.workflow
    for address in (
        "/tools/",
        "/tools/crm.contact/",
        "/tools/crm.contact/sends?kind=undoing&outcome=refused",
        f"/workflows/{flow.name}/{flow.version}/",
    ):
        with CaptureQueriesContext(connection) as seen:
            text(client, address)
        assert len(seen) <= QUERIES, f"{address} takes {len(seen)} queries"


def test_counts_and_rows_are_those_of_ones_own_teams(stuck: Make, person: Make, browse: Make) -> None:
    stuck()
    stranger = person("stranger")
    other = Team.objects.create(name="elsewhere")
    Person.objects.create(user=stranger).teams.add(other)
    client = browse(stranger)
    assert "/sends?" not in text(client, "/tools/")
    assert "data-row" not in text(client, "/tools/crm.contact/sends")


def test_what_isnt_there_is_not_found(tool: Make, client: Client) -> None:
    tool("crm.contact")
    for address in (
        "/tools/crm.gone/",
        "/tools/crm.contact/?version=9",
        "/tools/crm.contact/?version=x",
        "/tools/a%00b/",
        "/tools/crm.contact/sends?outcome=well",
        "/tools/crm.contact/sends?kind=other",
        "/workflows/none/1/",
        "/workflows/none/99999999999999999999/",
    ):
        assert client.get(address).status_code == 404, address


def test_an_older_version_shows_what_it_promised(tool: Make, client: Client) -> None:
    old = tool("crm.contact", undo=False)
    Tool.objects.filter(id=old.id).update(current=False)
    newer = {**spec(), "version": 2}
    Tool.objects.create(name="crm.contact", version=2, kind="python", digest="d", spec=newer, owner="crm-desk")
    assert "its tool's own undoing" in text(client, "/tools/crm.contact/").replace("&#x27;", "'")
    page = text(client, "/tools/crm.contact/?version=1")
    assert "not the current version" in page
    assert "declares no compensation" in page


def test_a_breaker_says_until_when_nothing_is_sent(tool: Make, client: Client) -> None:
    bounds = {"concurrent": 8, "per_minute": 300, "breaker": {"after": 5, "within": 30.0}}
    tool("crm.contact", limits=bounds)
    now = timezone.now()
    Gauge.objects.create(tool="crm.contact", failures=5, open_until=now + dt.timedelta(minutes=5))
    assert "breaker open: nothing is sent" in text(client, "/tools/")
    gauge = Gauge(tool="t", failures=5, open_until=now, minute=now.replace(second=0, microsecond=0), sent=7)
    assert gauges.breaker(bounds, gauge, now).words == "breaker open: one probe may go"
    assert gauges.minute(bounds, gauge, now) == (7, 300)
    assert gauges.minute(bounds, gauge, now + dt.timedelta(minutes=1)) == (0, 300)


FLOW = {"on_failure": "compensate", "after_irreversible": "hold", "deadline": 600.0}


@pytest.mark.parametrize(
    ("options", "flow", "named"),
    [
        ({}, {}, []),
        ({"effect_class": "read_only", "verify": False, "undo": False}, {}, []),
        ({"verify": False, "keyed": False}, {}, ["nobody can know whether it happened", "Its undoing can't be looked"]),
        ({"verify": False}, {}, ["the provider's word", "Its undoing can't be looked"]),
        ({"observability": "weak_signal"}, {}, ["the provider's word"]),
        ({}, {"deadline": 7200.0}, ["forgets our key after 1 h, before the workflow's deadline of 2 h"]),
        ({"undo": False}, {}, ["it stands, and a person decides"]),
        ({"undo": False}, {"after_irreversible": "compensate"}, []),
        ({"undo": False}, {"on_failure": "hold"}, []),
    ],
)
def test_each_gap_of_a_step_is_named(options: dict[str, Any], flow: dict[str, Any], named: list[str]) -> None:
    found = gaps({**FLOW, **flow}, spec(**options))
    assert len(found) == len(named)
    for said, part in zip(found, named, strict=True):
        assert part in said


def test_a_window_shorter_than_the_deadline_is_a_gap() -> None:
    declared = spec()
    declared["compensate"]["window"] = 60.0
    assert gaps(FLOW, declared) == ["It can be undone for 1 min only, less than the workflow's deadline."]


def test_a_workflow_whose_tool_is_gone_says_so(tool: Make, workflow: Make, world: World, client: Client) -> None:
    tool("crm.contact")
    flow = workflow("crm.contact", "mail.gone")
    lines = story(flow.spec, {"crm.contact": (1, spec())})
    assert [line.gaps != () for line in lines] == [False, True]
    page = text(client, f"/workflows/{flow.name}/1/")
    assert "Its tool is not declared" in page
    assert "1 gap named below" in page


def test_a_withdrawn_version_sends_nothing_until_somebody_decides(
    world: World, tool: Make, workflow: Make, begin: Make, person: Make, browse: Make
) -> None:
    tool("t.a")
    run: Run = begin(workflow("t.a"))
    operator = browse(person("operator", "operator"))
    answer = operator.post("/tools/t.a/1/withdraw", {"why": "it books twice"}, follow=True)
    page = answer.content.decode()
    assert "nothing is sent by it any more" in page
    assert "it books twice" in page
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, world.sends) == ("blocked", "version", [])
    address = f"/runs/{run.id}/effects/{effect.id}"
    assert "Its tool is not what it was" in text(operator, address)
    reader = browse(person("bystander"))
    assert reader.post(f"{address}/version", {"how": "go", "why": "mine"}).status_code == 403
    assert reader.post("/tools/t.a/1/restore", {"why": "mine"}).status_code == 403
    assert operator.post(f"{address}/version", {"how": "go", "why": " "}).status_code == 400
    assert operator.get(f"{address}/version").status_code == 405
    drain_once()
    assert world.sends == []
    assert operator.post(f"{address}/version", {"how": "go", "why": "unseen"}).status_code == 400
    drain_once()
    assert world.sends == [], "it was sent to nobody's eyes"
    with CaptureQueriesContext(connection) as asked:
        page = operator.get(address).content.decode()
    assert len(asked) <= 12
    (note,) = re.findall('name="preview" value="([^"]+)"', page)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(SimTool, "draft", lambda self, call: [Draft(line="POST https://elsewhere.example/")])
        form = {"how": "go", "why": "as shown", "preview": note}
        assert operator.post(f"{address}/version", form).status_code == 409, "another request than was shown"
    operator.post(f"{address}/version", {"how": "go", "why": "this one is checked", "preview": note})
    drain_once()
    assert [send[:2] for send in world.sends] == [("t.a", "execute")]
    again = {"how": "go", "why": "again", "preview": note}
    assert operator.post(f"{address}/version", again).status_code == 409


def test_parked_work_can_be_given_up_and_a_version_restored(
    world: World, tool: Make, workflow: Make, begin: Make, person: Make, browse: Make
) -> None:
    tool("t.a")
    operator = browse(person("operator", "operator"))
    flow = workflow("t.a")
    one, other = begin(flow), begin(flow)
    operator.post("/tools/t.a/1/withdraw", {"why": "it books twice"})
    drain_once()
    first, second = Effect.objects.get(run=one), Effect.objects.get(run=other)
    for how in ({}, {"how": "let go"}):
        unsaid = operator.post(f"/runs/{one.id}/effects/{first.id}/version", {"why": "which of them?", **how})
        assert (unsaid.status_code, Effect.objects.get(id=first.id).state) == (400, "blocked"), "nobody gave it up"
        assert "which of them?" in unsaid.content.decode()
    operator.post(f"/runs/{one.id}/effects/{first.id}/version", {"how": "give_up", "why": "not needed"})
    operator.post("/tools/t.a/1/restore", {"why": "it was mended"})
    drain_once()
    assert Effect.objects.get(id=first.id).state == "cancelled"
    assert Effect.objects.get(id=second.id).state == "verified"
    text(operator, "/tools/t.a/")  # what was said of the acts is read by now
    assert "withdrawn" not in text(operator, "/tools/t.a/")


def test_keys_that_are_not_believed_are_by_anybody_or_without_a_reason_or_proof(
    world: World, tool: Make, workflow: Make, run_through: Make, person: Make, browse: Make
) -> None:
    tool("t.a")
    effect = Effect.objects.get(run=run_through(workflow("t.a")))
    trust.doubt("t.a", 1, effect_id=effect.id, by="operator ops", why="a probe got <b>two</b> ids")
    operator, reader = browse(person("operator", "operator")), browse(person("bystander"))
    long_ago(operator)
    page = text(operator, "/tools/t.a/")
    shown = ("Its keys are not believed since", "&lt;b&gt;two", "Believe its keys again", "Your password, once more")
    for said in shown:
        assert said in page
    assert "Believe them</button>" not in text(reader, "/tools/t.a/")
    given = {"why": "the vendor mended it", "proof": PASSWORD}
    for client, form, status in (
        (reader, given, 403),
        (operator, {**given, "proof": ""}, 403),
        (operator, {**given, "proof": "a wrong one"}, 403),
        (operator, {**given, "why": " "}, 400),
    ):
        assert client.post("/tools/t.a/1/believe", form).status_code == status
        assert Demotion.objects.filter(lifted_at=None).exists()
    refused = operator.post("/tools/t.a/1/believe", {**given, "why": "x" * 2000})
    assert refused.status_code == 400
    assert "x" * 2000 in refused.content.decode(), "what was typed is lost"
    answer = operator.post("/tools/t.a/1/believe", given, follow=True).content.decode()
    assert "are believed again" in answer
    assert "not believed" not in answer
    row = Demotion.objects.get()
    assert (row.lifted_by, row.lift_reason) == ("person:operator", "the vendor mended it")
    assert operator.post("/tools/t.a/1/believe", given).status_code == 404


def test_a_person_sends_again_on_a_key_that_is_not_believed(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    """The console's process knew nothing of what workers had found out."""
    tool("t.a")
    effect = Effect.objects.get(run=run_through(workflow("t.a")))
    effect.stick(reason="late_answer", detail="", world="unknown")
    with transaction.atomic():
        ledger.save_effects([effect], now=rows.now())
    Attempt.objects.update(outcome="unknown")
    Demotion.objects.create(tool="t.a", version=1, effect=effect, at=rows.now())
    with pytest.raises(Invalid, match="no key protects a second send"):
        findings.try_again(effect.id, by="person:night desk", why="once more")
