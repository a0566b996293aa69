"""What tests of budgets share: giving one, spending it, and reading what was taken of it in two ways that agree."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from workflows import rows
from workflows.authority import run_budgets
from workflows.drain import drain_once
from workflows.models import Budget, Reservation, Run, Tool, Workflow
from workflows.policies import holds, spending
from workflows.policies.spending import Amounts

Make = Callable[..., Any]


def give(owner: str, per: str = "ever", **limits: int) -> Budget:
    budget = Budget(owner=owner, per=per, limits=limits, created_at=rows.now())
    budget.line = [budget.id]
    run_budgets.write_new(budget, "person:operator", {"limits": limits}, budget.created_at)
    return budget


def of_run(run: Run) -> Budget:
    return Budget.objects.get(owner=f"run:{run.id}")


def priced(tool: Tool, currency: str = "EUR") -> Tool:
    """Its acts are worth what their argument `amount` says; without one nobody knows."""
    tool.spec["value"] = {"amount": "${ args.amount }", "currency": currency}
    tool.save()
    return tool


def beside_each_other(flow: Workflow, **arguments: Any) -> Workflow:
    """Its steps get names of their own and all begin at once."""
    for n, step in enumerate(flow.spec["steps"]):
        step.update(name=f"s{n}", after=[], arguments={"of": f"s{n}", **arguments})
    flow.save()
    return flow


def drained_by(number: int, *, slots: int) -> None:
    """So many workers begin at once; back when each has found nothing more."""
    all_there = threading.Barrier(number)

    def work() -> None:
        all_there.wait(20)
        try:
            drain_once(slots=slots)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(number)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)


def taken(budget: Budget) -> tuple[Amounts, Amounts]:
    """(used, reserved), without the time that calls took. Each is what the reservations add up to."""
    found = Budget.objects.get(id=budget.id)
    used: Amounts = {}
    reserved: Amounts = {}
    for row in Reservation.objects.filter(budget=budget, window=found.window):
        used = spending.plus(used, row.calls)
        reserved = spending.plus(reserved, row.call)
        if row.state == holds.SPENT:
            used = spending.plus(used, row.worth)
        elif row.state == holds.HELD:
            reserved = spending.plus(reserved, row.worth)
    assert _some(found.used) == _some(used), "the budget and its reservations tell the same"
    assert _some(found.reserved) == _some(reserved)
    return _counted(found.used), _counted(found.reserved)


def _some(amounts: Amounts) -> Amounts:
    return {unit: amount for unit, amount in amounts.items() if amount}


def _counted(amounts: Amounts) -> Amounts:
    return {unit: amount for unit, amount in _some(amounts).items() if unit != spending.TIME}
