"""Lists of approvals: what waits, what was decided, what is done on one's own behalf; of one's own teams, quickly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.models import Person
from tests.repairs.approvals.pages import ACTS, form, rewrite, say, state
from workflows.models import Approval, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12


def test_lists_count_what_they_show_and_never_load_what_is_large(
    asking: Make, client: Client, run_through: Make
) -> None:
    first = asking({"amount": 1, "text": "z" * 100_000})
    flow = first.run.workflow
    for _ in range(3):
        run_through(flow)
    with CaptureQueriesContext(connection) as seen:
        page = client.get("/approvals/").content.decode()
    assert page.count("data-row") == 4
    assert page.count('Approvals <span class="count">4</span>') == 1
    assert 'type="checkbox"' not in page.replace('id="keys-on"', "").replace('<input type="checkbox"  checked>', "")
    assert "zzz" not in page
    for query in seen:
        for column in ('_effect"."arguments"', 'approval"."fields"', 'approval"."target"', 'run"."input"', '"spec"'):
            assert column not in query["sql"], query["sql"][:300]
    assert len(seen) <= QUERIES
    say(client, first, "refuse", **form(client, first))
    assert client.get("/approvals/").content.decode().count("data-row") == 3
    assert client.get("/approvals/?view=decided").content.decode().count("data-row") == 1


def test_an_approver_looks_for_a_proposed_write_off_where_it_never_stands(asking: Make, client: Client) -> None:
    asking()
    page = client.get("/approvals/").content.decode()
    assert '<a href="/repairs/?view=waiting">' in page
    assert '<a href="/repairs/batches/">' in page


def test_d04_what_ran_out_before_anybody_came_by_is_in_no_list(asking: Make, client: Client) -> None:
    approval = asking()
    Approval.objects.filter(id=approval.id).update(expires_at=approval.asked_at)
    assert "data-row" not in client.get("/approvals/").content.decode()
    page = client.get("/approvals/?view=decided").content.decode()
    assert (page.count("data-row"), "expired: nobody decided in time" in page) == (1, True)


def test_each_page_takes_few_queries(asking: Make, client: Client) -> None:
    approval = asking()
    say(client, approval, **form(client, approval))
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    for address in ("?view=decide", "?view=decided", "?view=mine", f"{approval.id}/", f"{approval.id}/?whole=1"):
        with CaptureQueriesContext(connection) as seen:
            assert client.get(f"/approvals/{address}").status_code == 200
        assert len(seen) <= QUERIES, f"{address}: {[q['sql'][:90] for q in seen]}"


def test_what_is_not_ones_teams_is_not_there(asking: Make, person: Make, browse: Make) -> None:
    approval = asking()
    user = person("stranger", "approver")
    Person.objects.create(user=user).teams.add(Team.objects.create(name="elsewhere"))
    client = browse(user)
    assert client.get("/approvals/").content.decode().count("data-row") == 0
    for address in ("", "call.json", "reading"):
        assert client.get(f"/approvals/{approval.id}/{address}").status_code == 404
    for act in ACTS:
        assert client.post(f"/approvals/{approval.id}/{act}", {"why": "mine"}).status_code == 404
    assert state(approval) == "asked"


def test_my_requests_are_those_on_my_behalf(asking: Make, person: Make, browse: Make) -> None:
    approval = asking()
    mine = browse(person("boss"))
    assert mine.get("/approvals/?view=mine").content.decode().count("data-row") == 0
    rewrite("UPDATE workflows_effect SET on_behalf_of = 'person:boss' WHERE id = %s", approval.effect_id)
    assert mine.get("/approvals/?view=mine").content.decode().count("data-row") == 1
