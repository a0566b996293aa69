"""Stops in the console: a banner on every page, who may freeze and lift, what waits, and what came before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from repairs.models import Person
from repairs.words.waits import waits_for
from tests.authority.test_stops import freeze
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.models import Effect, Run, Stop, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12  # the most that a page may take


@pytest.fixture
def desk(person: Make, browse: Make) -> Client:
    client: Client = browse(person("desk", "repairer", "operator"))
    return client


@pytest.fixture
def other(person: Make, browse: Make) -> Client:
    client: Client = browse(person("other", "approver"))
    return client


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    page: str = answer.content.decode()
    return page


FORM = {"target": "tool", "name": "t.a", "why": "odd answers", "until": "", "people": ""}


def test_a_tool_is_frozen_seen_everywhere_and_lifted_by_another_person(
    world: World, tool: Make, workflow: Make, begin: Make, desk: Client, other: Client
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    done = desk.post(reverse("freeze"), FORM, follow=True).content.decode()
    assert "Frozen: tool t.a. Nothing new is sent to it." in done
    drain_once()
    effect = Effect.objects.get()
    pages = [
        "/",
        "/repairs/",
        "/runs/",
        f"/runs/{run.id}/",
        f"/runs/{run.id}/effects/{effect.id}",
        "/tools/",
        "/stops/",
    ]
    for address in [*pages, reverse("admin:index")]:
        with CaptureQueriesContext(connection) as queries:
            page = text(other, address)
        assert "<strong>Held.</strong>" in page, address
        assert len(queries) <= QUERIES, f"{address} takes {len(queries)}"
    assert "<strong>1</strong> effect waits: <bdi>tool t.a is frozen</bdi>" in text(other, "/")
    assert "tool t.a is frozen" in text(other, f"/runs/{run.id}/")
    assert "1 effect</dd>" in text(other, "/stops/")
    assert "You froze it; another person must lift it." in text(desk, "/stops/")
    stop = Stop.objects.get()
    refused = desk.post(reverse("lift", args=[stop.id]), {"why": "well again"})
    assert (refused.status_code, Stop.objects.get().state) == (403, "frozen")
    assert "another person must lift it" in refused.content.decode()
    page = other.post(reverse("lift", args=[stop.id]), {"why": "well again"}, follow=True).content.decode()
    assert "Lifted: tool t.a." in page
    assert "lifted by <bdi>other</bdi>" in page
    assert "<strong>Held.</strong>" not in page
    drain_once()
    assert again(run).state == "completed"


def test_who_only_reads_is_shown_no_form_and_refused_one(person: Make, browse: Make) -> None:
    reader = browse(person("reader", "manager"))
    stop = freeze("subject", "customer:1")
    page = text(reader, "/stops/")
    assert reverse("freeze") not in page
    assert reverse("lift", args=[stop.id]) not in page
    assert reader.post(reverse("freeze"), {**FORM, "target": "everything", "name": ""}).status_code == 403
    assert reader.post(reverse("lift", args=[stop.id]), {"why": "x"}).status_code == 403
    assert [(s.on, s.state) for s in Stop.objects.all()] == [("subject customer:1", "frozen")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "t.none"}, "is no tool here"),
        ({"target": "planet"}, "must be one of"),
        ({"why": ""}, "why: says nothing"),
        ({"until": "soon"}, "must be a length like 30m"),
    ],
)
def test_a_refused_freeze_says_why_and_keeps_what_was_typed(
    desk: Client, tool: Make, change: dict[str, str], words: str
) -> None:
    tool("t.a")
    form = {**FORM, "why": "typed with care", **change}
    answer = desk.post(reverse("freeze"), form)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert words in page
    assert form["why"] in page
    assert not Stop.objects.exists()


@pytest.mark.parametrize("customer", ["42\u200b", "42 ", "a:\u202eb"])
def test_a_customer_named_by_what_nobody_sees_goes_on_under_the_stop_that_their_case_leads_to(
    world: World, tool: Make, workflow: Make, begin: Make, desk: Client, customer: str
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    form = {**FORM, "target": "subject", "name": f"customer:{customer}"}
    assert "Nothing was frozen." in desk.post(reverse("freeze"), form).content.decode(), "nobody has such a name"
    Run.objects.filter(id=run.id).update(subject_type="customer", subject_id=customer)
    assert desk.post(reverse("freeze"), form).status_code == 302
    drain_once()
    assert (Stop.objects.get().name, world.sends) == (f"customer:{customer}", [])


def test_what_is_not_there_can_not_be_lifted(desk: Client) -> None:
    gone = reverse("lift", args=["019a0000-0000-7000-8000-000000000000"])
    assert desk.post(gone, {"why": "x"}).status_code == 404
    assert desk.get(gone).status_code == 405


def test_after_a_restore_an_operator_says_that_work_goes_on(other: Client, desk: Client) -> None:
    stop = freeze(cause="restored", by="command:root", second_person=False)
    assert "After a restore an operator says" in text(other, "/stops/")
    assert other.post(reverse("lift", args=[stop.id]), {"why": "checked"}).status_code == 403
    assert desk.post(reverse("lift", args=[stop.id]), {"why": "checked"}).status_code == 302


def test_people_with_teams_see_stops_of_their_agents_and_of_what_all_share(
    person: Make, browse: Make, agent: Any, tool: Make
) -> None:
    from repairs.models import Person
    from workflows.models import Agent, Team

    tool("t.a")
    team = Team.objects.create(name="sales")
    Agent.objects.create(name="closer", team="sales")
    user: User = person("seller", "repairer")
    Person.objects.create(user=user, must_change=False).teams.add(team)
    seller = browse(user)
    for target, name in (("agent", "closer"), ("agent", agent.name), ("tool", "t.a"), ("subject", "customer:9")):
        freeze(target, name)
    page = text(seller, "/stops/")
    assert "agent closer" in page
    assert "tool t.a" in page
    assert f"agent {agent.name}" not in page
    assert "customer:9" not in page
    refused = seller.post(reverse("freeze"), {**FORM, "target": "agent", "name": agent.name})
    assert (refused.status_code, "is no agent of your teams" in refused.content.decode()) == (400, True)


@pytest.mark.parametrize(
    ("blocker", "said"),
    [
        ({"stop": "1", "on": "tool t.a", "until": None}, "tool t.a is frozen"),
        ({"stop": "1", "on": "all", "until": "2026-12-01T06:00:00+00:00"}, "all is frozen until 2026-12-01 06:00 UTC"),
        ({"credential": "CRM", "why": "it was refused"}, "credential CRM: it was refused"),
        ({"scope": "crm:1", "effect": "2"}, "another effect is at crm:1"),
        ({"rate": "t.a", "until": None}, "rate t.a"),
        ("plan", "plan"),
    ],
)
def test_a_blocker_is_said_in_words(blocker: Any, said: str) -> None:
    assert waits_for(blocker) == said


@pytest.mark.parametrize("target", ["tool", "workflow"])
def test_who_sees_one_team_lifts_what_another_froze_for_all_teams(
    person: Make, browse: Make, tool: Make, workflow: Make, target: str
) -> None:
    """Tools and workflows belong to all teams: who lets their work go must see it. One's own freeze is one's own."""
    tool("t.a")
    name = "t.a" if target == "tool" else workflow("t.a").name
    user: User = person("night-desk", "operator", "approver")
    Person.objects.create(user=user).teams.add(Team.objects.create(name="t1"))
    limited = browse(user)
    theirs, own = freeze(target, name), freeze(target, name, by="person:night-desk", second_person=False)
    assert limited.post(reverse("lift", args=[theirs.id]), {"why": "we need it"}).status_code == 403
    assert limited.post(reverse("lift", args=[own.id]), {"why": "a slip"}).status_code == 302
    assert [stop.state for stop in Stop.objects.order_by("id")] == ["frozen", "lifted"]
    assert "somebody who sees all of them can lift it" in text(limited, reverse("stops"))


def test_who_sees_one_team_lets_the_work_of_all_go(person: Make, browse: Make, other: Client) -> None:
    team = Team.objects.create(name="t1")
    user: User = person("night desk", "operator", "approver")
    Person.objects.create(user=user).teams.add(team)
    stop = freeze("everything")
    limited = browse(user)
    assert limited.post(reverse("lift", args=[stop.id]), {"why": "all is well"}).status_code == 403
    assert Stop.objects.get().state == "frozen"
    assert "somebody who sees all of them can lift it" in text(limited, reverse("stops"))
