"""C58: what is reserved before each send, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import rows
from workflows.authority import run_budgets
from workflows.drain import drain_once
from workflows.engine.reconcile import reconcile
from workflows.models import Budget, Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def give(owner: str, per: str = "ever", **limits: int) -> Budget:
    budget = Budget(owner=owner, per=per, limits=limits, created_at=rows.now())
    budget.line = [budget.id]
    run_budgets.write_new(budget, "person:operator", {"limits": limits}, budget.created_at)
    return budget


def left(budget: Budget) -> tuple[dict[str, int], dict[str, int]]:
    """(used, reserved), without the time that calls took."""
    found = Budget.objects.get(id=budget.id)
    return {u: n for u, n in found.used.items() if u != "milliseconds"}, found.reserved


@pytest.fixture
def parallel(workflow: Make) -> Make:
    """A workflow of `number` steps that all begin at once."""

    def make(tool: str, number: int) -> Any:
        made = workflow(*[tool] * number)
        for n, step in enumerate(made.spec["steps"]):
            step.update(name=f"s{n}", after=[])
        made.save()
        return made

    return make


def test_of_fifty_calls_at_once_a_limit_of_ten_lets_ten_go(
    world: World, tool: Make, parallel: Make, begin: Make
) -> None:
    tool("t.a")
    budget = give("agent:sim", calls=10)
    run = begin(parallel("t.a", 50))
    drain_once()
    assert len(world.sends) == 10
    reconcile()
    assert left(budget) == ({"calls": 10, "effects": 10}, {})
    blocked = list(Effect.objects.filter(run=run, state="blocked", reason="budget"))
    assert len(blocked) == 40
    by = blocked[0].blocked_by[0]
    told = (by["budget"], by["of"], by["unit"], by["limit"], by["used"], by["needed"], by["waits"])
    assert told == (str(budget.id), "agent sim", "calls", 10, 10, 1, "person")
    assert again(run).state == "stuck"
