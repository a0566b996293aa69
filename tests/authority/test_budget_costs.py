"""What decisions and budgets cost a dispatch: a number of statements that doesn't grow with the set."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.authority.purse import Make, give, priced
from tests.engine.simulated import World
from tests.engine.test_statements import Counted
from workflows.drain import drain_once
from workflows.engine import call, record
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.engine.parts import permission
from workflows.engine.reconcile import reconcile
from workflows.models import Decision, Effect

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 64
# Read for the policy; locked, whose turn it is, costs of tools, customers, both kinds of rows written.
OF_BUDGETS = 7


def through(begin: Make, flow: Any, number: int) -> dict[str, int]:
    """So many effects dispatched, called and recorded."""
    for _ in range(number):
        begin(flow)
    advance()
    count = Counted()
    with ThreadPoolExecutor(8) as pool:
        effects = count("dispatch", lambda: dispatch(MANY))
        assert len(effects) == number
        calls = call.begin(effects, pool, effects[0].sending.started_at)
        count("record", lambda: record.record([(effect, future.result()) for effect, future in calls]))
    drain_once()
    count("reconcile", reconcile)
    return count.numbers


def test_budgets_take_the_same_statements_for_1_and_64_effects(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    priced(tool("t.a"))
    flow = workflow("t.a")
    through(begin, flow, 1)  # what is met for the first time is read once and kept
    without = through(begin, flow, 1)
    give("agent:sim", calls=10**6, customers=10**6)
    give("tool:t.a", per="day", EUR=10**6, effects=10**6)
    flow.spec["steps"][0]["arguments"]["amount"] = 5
    flow.save()
    through(begin, flow, 1)
    one, many = through(begin, flow, 1), through(begin, flow, MANY)
    assert many == one
    assert one["dispatch"] - without["dispatch"] == OF_BUDGETS
    assert one["reconcile"] == without["reconcile"], "nothing was behind"


def test_a_decision_adds_one_statement_to_a_dispatch(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row is written with the attempt, with or without it; `make bench ARGS=--decision` says what time it takes."""
    tool("t.a")
    flow = workflow("t.a")
    through(begin, flow, 1)
    decided = through(begin, flow, 1)["dispatch"]
    last = Decision.objects.latest("id")

    def undecided(effects: Sequence[Effect], now: dt.datetime, _stopped: Any) -> tuple[list[Effect], list[Decision]]:
        same = {"agent_id": last.agent_id, "act": last.act, "verdict": "allow", "policy": "none", "rule": "none"}
        return list(effects), [Decision(effect_id=effect.id, at=now, **same) for effect in effects]

    monkeypatch.setattr(permission, "ask", undecided)
    assert decided - through(begin, flow, 1)["dispatch"] == 1
