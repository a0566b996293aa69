"""The queue found again: by names, by cause, by team, and what came since the page was made."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from repairs.models import Case
from tests.engine.simulated import World
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    user: User = person("night desk", "repairer")
    found: Client = browse(user)
    return found


def shown(client: Client, address: str) -> list[str]:
    """The numbers of the cases on a page of the queue."""
    return re.findall(r'data-label="Case">(C-\d+)<', client.get(address).content.decode())


def test_a_case_is_not_found_by_a_part_of_what_its_customer_or_provider_calls_it(stuck: Make, client: Client) -> None:
    first, second = stuck(), stuck()
    mine = Run.objects.get(id=first.run_id)
    reference = Effect.objects.filter(run=mine).exclude(external_ref="").first()
    assert reference is not None
    for words in (
        mine.subject_id,
        mine.subject_id.upper(),
        reference.external_ref[4:-2],
        first.name,
        str(mine.id),
    ):
        assert shown(client, f"/repairs/?q={quote(words)}") == [first.name], words
    assert set(shown(client, "/repairs/?q=customer")) == {first.name, second.name}
    assert shown(client, f"/repairs/?q={mine.subject_id}+nothing-of-the-kind") == []
    assert b"No case is like that" in client.get("/repairs/?q=%25").content, "a wildcard is a letter like any other"


def test_a_search_reads_every_case(stuck: Make) -> None:
    stuck()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM repairs_case WHERE found_by LIKE '%acme onboarding%'")
        assert "case_found_by" in str(cursor.fetchall())


def test_cases_of_one_cause_are_not_linked_or_those_of_another_are(stuck: Make, client: Client, world: World) -> None:
    cases = [stuck(), stuck()]
    world.script("crm.contact", "look_undone", "several")
    cases.append(stuck("well"))
    causes = [Case.objects.get(id=case.id).signature for case in cases]
    assert causes[:2] == ["crm.contact v1: refused, undoing"] * 2 != causes[2:]
    page = client.get("/repairs/").content.decode()
    assert "2 cases of this cause" in page
    assert set(shown(client, f"/repairs/?cause={quote(causes[0])}")) == {cases[0].name, cases[1].name}


def test_a_figure_beside_a_view_counts_other_rows_than_the_page_of_that_view_shows(stuck: Make, client: Client) -> None:
    first, _ = stuck(), stuck()
    page = client.get(f"/repairs/?q={first.name}").content.decode()
    figures = dict(re.findall(r"\?view=(\w+)&amp;q=[^\"]*\"[^>]*>[^<]*?(\d+)</a>", page))
    assert figures["all"] == "1"
    for view, figure in figures.items():
        assert len(shown(client, f"/repairs/?view={view}&q={first.name}")) == int(figure), view


def test_news_keeps_silent_about_a_case_that_came_or_answers_what_was_answered(stuck: Make, client: Client) -> None:
    stuck()
    page = client.get("/repairs/").content.decode()
    address = re.search(r'data-news="([^"]+)"', page)
    assert address is not None
    news = address[1].replace("&amp;", "&")
    before = client.get(news)
    assert (before.status_code, before.content.strip()) == (200, b"")
    assert client.get(news, headers={"If-None-Match": before["ETag"]}).status_code == 304
    stuck()
    after = client.get(news, headers={"If-None-Match": before["ETag"]})
    assert (after.status_code, b"1 new case since" in after.content) == (200, True)


@pytest.mark.parametrize("query", ["q=%00", f"q={'x' * 201}", "after=cut", "view=none"])
def test_a_query_that_cannot_be_meant_is_answered_as_another(client: Client, query: str) -> None:
    assert client.get(f"/repairs/?{query}").status_code in (400, 404)
