"""The budget that an agent gives a run at its start, alone or as a share of the run that it was begun under."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from workflows import journal
from workflows.errors import Flaw, Invalid
from workflows.models import Agent, Budget, Run
from workflows.policies import spending

COUNTED = {
    "calls": spending.CALLS,
    "effects": spending.EFFECTS,
    "customers": spending.CUSTOMERS,
    "seconds": spending.TIME,
}


def parent(agent: Agent, asked: dict[str, Any] | None) -> Budget | None:
    """The budget of the run named by `of`. Raises `Invalid` where the agent has no such run, or it has no budget."""
    if not asked or "of" not in asked:
        return None
    named = asked["of"]
    run = Run.objects.filter(id=uuid.UUID(named), **agent.owned).values_list("id", flat=True).first()
    if run is None:
        raise Invalid("The run was not begun.", [Flaw("budget.of", named, "there is no such run, or it isn't yours")])
    found = Budget.objects.filter(owner=f"run:{run}").first()
    if found is None:
        flaw = Flaw("budget.of", named, "this run has no budget to share; leave `of` out, or give that run one")
        raise Invalid("The run was not begun.", [flaw])
    return found


def limits_of(asked: dict[str, Any]) -> dict[str, int]:
    """By unit; seconds become milliseconds. Whole floats of JSON become integers."""
    limits = {unit: int(amount) for unit, amount in asked.get("money", {}).items()}
    limits |= {unit: int(asked[name]) for name, unit in COUNTED.items() if name in asked}
    if "seconds" in asked:
        limits[spending.TIME] *= 1000
    return limits


def give(run: Run, asked: dict[str, Any], under: Budget | None, now: dt.datetime) -> Budget:
    """Writes the run's own budget, in the transaction that writes the run. It draws on those above it, too."""
    budget = Budget(owner=f"run:{run.id}", limits=limits_of(asked), created_at=now)
    budget.line = [budget.id, *(under.line if under else ())]
    told = {"limits": budget.limits, **({"of": asked["of"]} if under else {})}
    write_new(budget, f"agent:{run.agent.name}", told, now, run.id)
    return budget


def write_new(
    budget: Budget, actor: str, told: dict[str, Any], now: dt.datetime, run_id: uuid.UUID | None = None
) -> None:
    made = journal.chain([event(budget, "create", actor, told, run_id)], at=now)
    budget.save(force_insert=True)
    journal.write(made)


def event(
    budget: Budget, name: str, actor: str, told: dict[str, Any], run_id: uuid.UUID | None = None
) -> journal.Event:
    return journal.Event(
        subject=budget, kind="budget", run_id=run_id, event=name, actor=actor[:100], payload={"of": str(budget), **told}
    )
