"""The console's budgets: what is taken and who waits; a raise by two people; nothing of other teams."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from repairs.models import Person
from tests.authority.purse import Make, give, of_run
from tests.authority.test_budgets import settled
from tests.engine.simulated import World
from workflows.models import Budget, BudgetChange, Run, Team

pytestmark = pytest.mark.django_db(transaction=True)
MOST_QUERIES = 12


@pytest.fixture
def waiting(world: World, tool: Make, workflow: Make, begin: Make) -> Budget:
    tool("t.a")
    run = begin(workflow("t.a"), budget={"calls": 0, "money": {"EUR": 123456}})
    settled()
    return of_run(run)


def test_the_list_shows_what_is_taken_and_who_waits(waiting: Budget, person: Make, browse: Make) -> None:
    give("agent:sim", per="day", calls=10, milliseconds=1500)
    client = browse(person("reader", "manager"))
    for path in ("/budgets/", f"/budgets/{waiting.id}/"):
        with CaptureQueriesContext(connection) as queries:
            page = client.get(path)
        assert page.status_code == 200
        assert len(queries) <= MOST_QUERIES
        text = page.content.decode()
        assert "1,234.56" in text
        assert str(waiting.name) in text
    assert "calls 0 of 0, 1 needed; only a raised limit lets it go" in text
    assert "A repairer or an operator can change limits." in text


def test_two_people_raise_a_budget_and_the_run_goes_on(
    waiting: Budget, world: World, person: Make, browse: Make
) -> None:
    night, day = browse(person("night", "repairer", "approver")), browse(person("day", "approver"))
    form = {"limit-calls": "2", "limit-EUR": "123456", "why": "one call is meant"}
    assert night.post(f"/budgets/{waiting.id}/change", form).status_code == 302
    asked = BudgetChange.objects.get()
    assert (asked.state, asked.limits) == ("asked", {"calls": 2, "EUR": 123456})
    confirm = f"/budgets/changes/{asked.id}/confirm"
    assert night.get(confirm).status_code == 405, "only a POST decides"
    refused = night.post(confirm, {"why": "it is late"})
    assert (refused.status_code, "another person must confirm" in refused.content.decode()) == (403, True)
    assert "it is late" in refused.content.decode(), "what was typed is kept"
    settled()
    assert not world.sends
    assert "one call is meant" in day.get(f"/budgets/{waiting.id}/").content.decode()
    assert day.post(confirm, {"why": "agreed"}).status_code == 302
    settled()
    assert len(world.sends) == 1
    page = day.get(f"/budgets/{waiting.id}/").content.decode()
    assert "confirmed more" in page
    assert day.post(confirm, {"why": "again"}).status_code == 409


@pytest.mark.parametrize(
    ("form", "status", "told"),
    [
        ({"limit-calls": "1"}, 400, "Say why, in a sentence"),
        ({"limit-calls": "-1", "why": "x"}, 400, "must be a whole number"),
        ({"limit-calls": "0", "limit-EUR": "123456", "why": "x"}, 400, "say at least one"),
        ({"limit-calls": "0", "limit-EUR": "123456", "currency": "euro", "why": "x"}, 400, "three capitals"),
    ],
)
def test_a_bad_form_changes_nothing_and_says_why(
    form: dict[str, str], status: int, told: str, waiting: Budget, person: Make, browse: Make
) -> None:
    answer = browse(person("night", "repairer")).post(f"/budgets/{waiting.id}/change", form)
    assert (answer.status_code, told in answer.content.decode()) == (status, True)
    assert Budget.objects.get(id=waiting.id).limits == waiting.limits
    assert not BudgetChange.objects.exists()


def test_budgets_of_other_teams_are_like_ones_that_never_were(
    waiting: Budget, person: Make, browse: Make, tool: Make
) -> None:
    agents, tools = give("agent:sim", calls=1), give("tool:t.a", calls=5)
    stranger = person("stranger", "repairer", "approver")
    Person.objects.create(user=stranger).teams.add(Team.objects.create(name="elsewhere"))
    client = browse(stranger)
    never = "/budgets/01890000-0000-7000-8000-000000000000/"
    unknown = client.get(never)
    for budget in (waiting, agents):
        page = client.get(f"/budgets/{budget.id}/")
        assert (page.status_code, without_token(page)) == (404, without_token(unknown))
        assert client.post(f"/budgets/{budget.id}/change", {"limit-calls": "9", "why": "x"}).status_code == 404
    listed = client.get("/budgets/").content.decode()
    assert "tool t.a" in listed
    assert "agent sim" not in listed
    assert waiting.name not in listed
    raised: Any = client.post(f"/budgets/{tools.id}/change", {"limit-calls": "9", "why": "x"})
    assert raised.status_code == 403, "all teams spend from it"
    assert not BudgetChange.objects.exists()


def without_token(page: Any) -> bytes:
    """The page but for the token of its form, which is masked anew each time."""
    return re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", page.content)


def test_the_case_of_a_run_that_ran_out_says_what_to_do(waiting: Budget, person: Make, browse: Make) -> None:
    run = Run.objects.get(id=waiting.name)
    page = browse(person("desk", "repairer")).get(f"/repairs/{run.cases.get().number}/").content.decode()
    assert "too little is left of its budget" in page
    assert "Propose a higher limit" in page
