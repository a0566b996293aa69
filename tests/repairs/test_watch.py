"""How people decide, for who answers for them: counts with what stands behind them, and no share of a few."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from repairs.models import Person
from repairs.words.watch import FEW, Said, watch
from tests.engine.simulated import World
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.models import Agent, Approval, Team

Make = Callable[..., Any]


def test_who_never_reads_looks_like_who_does() -> None:
    stamping = [Said("stamp", True, 2.0)] * FEW
    reading = [Said("reader", True, 90.0)] * FEW
    saying_no = [Said("careful", n % 2 == 0, 2.0) for n in range(FEW)]
    lines = {line.who: line for line in watch([*stamping, *reading, *saying_no])}
    assert [(who, line.stamps) for who, line in lines.items()] == [
        ("careful", False),
        ("reader", False),
        ("stamp", True),
    ]
    assert (lines["stamp"].share, lines["stamp"].typical, lines["stamp"].glances) == ("100 %", "2 s", FEW)


def test_a_few_decisions_are_told_as_a_share_or_an_untimed_one_as_a_glance() -> None:
    line = watch([Said("new", True, None), Said("new", False, 8.0)])[0]
    assert (line.decided, line.approved, line.share, line.stamps) == (2, 1, "", False)
    assert (line.timed, line.median, line.glances) == (1, 8.0, 0)
    assert watch([]) == []


@pytest.mark.django_db(transaction=True)
def test_how_others_decide_is_seen_by_who_does_not_answer_for_them_or_of_other_teams(
    world: World,
    tool: Make,
    workflow: Make,
    run_through: Make,
    person: Make,
    browse: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tool("pay.refund", autonomy="ask")
    run_through(workflow("pay.refund"))
    approval = Approval.objects.get()
    approvals.vote(approval.id, by=person("approver", "approver"), why="as agreed", seen_digest=approval.digest)
    drain_once()
    page = browse(person("manager", "manager")).get("/approvals/watch")
    assert [(line.who, line.approved) for line in page.context["lines"]] == [("approver", 1)]
    assert "How people decide" in browse(person("second", "manager")).get("/approvals/").content.decode()
    for role in ("approver", "repairer", "operator"):
        client = browse(person(f"a-{role}", role))
        assert client.get("/approvals/watch").status_code == 403
        assert "How people decide" not in client.get("/approvals/").content.decode()
    other = person("elsewhere", "manager")
    team = Team.objects.create(name="elsewhere")
    Person.objects.create(user=other).teams.set([team])
    assert Agent.objects.get().team != "elsewhere"
    assert browse(other).get("/approvals/watch").context["lines"] == []
    monkeypatch.setattr("repairs.views.watch.WINDOW", dt.timedelta(0))
    assert browse(person("third", "auditor")).get("/approvals/watch").context["lines"] == []
