"""Lists: a row that is there throughout appears exactly once, and a cursor answers only the question it came from
(case D17)."""

from __future__ import annotations

import datetime as dt
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db.models import F

from tests.api.conftest import Caller, problem, read
from tests.engine import simulated
from workflows.models import Run, Tool


def pages(caller: Caller, path: str, **query: Any) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    cursor: dict[str, str] = {}
    while True:
        page = read(caller.get(f"{path}?{urlencode({**query, **cursor})}"))
        found.append(page["results"])
        if page["next"] is None:
            return found
        cursor = {"cursor": page["next"]}


def ids(runs: list[dict[str, Any]]) -> list[str]:
    return [run["id"] for run in runs]


@pytest.fixture
def made(caller: Caller) -> list[str]:
    """25 runs of one moment, the newest first."""
    made = [caller.start(external_id=f"e{n % 2}")["id"] for n in range(25)][::-1]
    Run.objects.update(created_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    return made


@pytest.mark.parametrize("limit", [1, 10, 24, 25, 26])
def test_d17_rows_of_one_moment_appear_once_and_in_order(caller: Caller, made: list[str], limit: int) -> None:
    found = pages(caller, "runs", limit=limit)
    assert [run for page in found for run in ids(page)] == made
    assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)


def test_d17_new_rows_and_a_vanished_cursor_row_change_nothing_for_those_that_stay(
    caller: Caller, made: list[str]
) -> None:
    first = read(caller.get("runs?limit=10"))
    for _ in range(5):
        caller.start()
    last = Run.objects.get(id=first["results"][-1]["id"])
    last.steps.all().delete()
    last.delete()
    second = read(caller.get(f"runs?limit=10&cursor={first['next']}"))
    assert ids(first["results"]) + ids(second["results"]) == made[:20]


def test_d17_a_cursor_of_another_question_is_refused(caller: Caller, other: Caller, made: list[str]) -> None:
    cursor = read(caller.get("runs?limit=10&external_id=e1"))["next"]
    assert caller.get(f"runs?limit=3&external_id=e1&cursor={cursor}").status_code == 200
    for asker, question in (
        (caller, f"runs?cursor={cursor}"),
        (caller, f"runs?external_id=e0&cursor={cursor}"),
        (caller, f"tools?cursor={cursor}"),
        (caller, f"runs?external_id=e1&cursor={cursor[:-2]}AA"),
        (other, f"runs?external_id=e1&cursor={cursor}"),
    ):
        assert problem(asker.get(question)) == (400, "invalid", ["cursor"])


def test_a_list_shows_only_the_agent_s_own(caller: Caller, other: Caller) -> None:
    mine, theirs = caller.start()["id"], other.start()["id"]
    assert [ids(page) for page in pages(caller, "runs")] == [[mine]]
    assert [ids(page) for page in pages(other, "runs")] == [[theirs]]


def test_filters_choose_what_they_say(caller: Caller) -> None:
    one = caller.start(external_id="x", subject={"type": "customer", "id": "a:b"})["id"]
    two = caller.start(workflow=None, open=True, subject={"type": "a", "id": "b"})["id"]
    Run.objects.filter(id=one).update(created_at=F("created_at") - dt.timedelta(days=2))
    yesterday = (dt.datetime.now(dt.UTC) - dt.timedelta(days=1)).isoformat()
    for query, wanted in (
        ({"state": "running"}, [one]),
        ({"state": "open"}, [two]),
        ({"state": "completed"}, []),
        ({"workflow": "sim"}, [one]),
        ({"workflow": "adhoc"}, [two]),
        ({"external_id": "x"}, [one]),
        ({"subject": "customer:a:b"}, [one]),
        ({"subject": "a:b"}, [two, one]),
        ({"subject": "b"}, [two]),
        ({"created_after": yesterday}, [two]),
        ({"created_before": yesterday}, [one]),
        ({"created_after": yesterday, "external_id": "x"}, []),
    ):
        assert ids(pages(caller, "runs", **query)[0]) == wanted, query


def test_tools_and_workflows_are_those_that_may_be_used_in_a_model_s_form(caller: Caller) -> None:
    spec = simulated.spec()
    forbidden = {**spec, "profile": {**spec["profile"], "autonomy": "forbidden"}}
    for name, content in (("sim.b", spec), ("sim.no", forbidden)):
        Tool.objects.create(name=name, version=1, kind="python", digest=name, spec=content, owner="sim-desk")
    Tool.objects.filter(name="sim.b").update(current=False)
    Tool.objects.create(
        name="sim.b", version=2, kind="python", digest="2", spec={**spec, "description": "Does b."}, owner="sim-desk"
    )

    tools = [tool for page in pages(caller, "tools", limit=1) for tool in page]
    assert [(tool["name"], tool["version"], tool["description"]) for tool in tools] == [
        ("sim.act", 1, "sim.act. It can be undone."),
        ("sim.b", 2, "Does b."),
    ]
    assert tools[0]["input_schema"]["properties"] == {"amount": {"type": "integer"}}
    assert tools[0]["profile"]["owner"] == "sim-desk"
    assert [flow["name"] for flow in pages(caller, "workflows")[0]] == ["adhoc", "sim"]

    caller.agent.tools, caller.agent.workflows = ["sim.b", "sim.no", "gone"], ["sim"]
    caller.agent.save()
    assert [tool["name"] for tool in pages(caller, "tools")[0]] == ["sim.b"]
    (flow,) = pages(caller, "workflows")[0]
    assert (flow["name"], flow["input_schema"], flow["profile"]["on_failure"]) == (
        "sim",
        {"type": "object"},
        "compensate",
    )
