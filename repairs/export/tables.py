"""The tables behind queue and runs: which columns a file has, and from which rows. Nothing large is read."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from repairs import reading, worklist
from repairs.export.rows import Table
from repairs.models import Case
from repairs.words.harm import TITLES, Harm
from workflows.models import Run
from workflows.money import major

CASE = (
    "case", "state", "sentence", "why here", "outside", "customer", "team", "deadline", "cut-off", "cut-off is when",
    "held by", "opened", "closed", "cause", "amount", "currency", "money", "customers", "run",
)  # fmt: skip
RUN = (
    "run", "state", "subject type", "subject id", "subject", "workflow", "version", "agent", "external id", "started",
    "ended",
)  # fmt: skip


def of_cases(rows: QuerySet[Case], order: tuple[str, ...], at: dt.datetime) -> Table:
    """`rows` with their runs and holders; `at`: the moment for which the order and the holders are told."""

    def values(case: Case) -> tuple[object, ...]:
        held = case.claimed_by.get_username() if case.claimed_by and case.holder_at(at) else ""
        amount, currency, money = sums(case.value)
        return (
            case.name, case.state, case.sentence, worklist.why_here(case, at), TITLES[Harm(case.harm)],
            reading.subject_of(case.run), case.owner, case.deadline, case.cutoff, case.cutoff_reason, held,
            case.opened_at, case.closed_at, case.signature, amount, currency, money, case.customers, case.run_id,
        )  # fmt: skip

    return Table(name="cases", columns=CASE, rows=rows, order=order, values=values)


def of_runs(rows: QuerySet[Run]) -> Table:
    """`rows` with their workflows and agents."""

    def values(run: Run) -> tuple[object, ...]:
        return (
            run.id, run.state, run.subject_type, run.subject_id, run.subject_label, run.workflow.name,
            run.workflow.version, run.agent.name, run.external_id, run.created_at, run.ended_at,
        )  # fmt: skip

    return Table(name="runs", columns=RUN, rows=rows, order=("-id",), values=values)


def sums(value: list[dict[str, Any]]) -> tuple[Decimal | None, str, str]:
    """One amount as a number and its currency; several, which are never added, as a text only."""
    found = [(money(one["amount"], one["currency"]), str(one["currency"])) for one in value]
    text = ", ".join(f"{currency} {amount}" for amount, currency in found)
    return (*found[0], text) if len(found) == 1 else (None, "", text)


def money(amount: int, currency: str) -> Decimal:
    """Of a code that is none the whole minor units: nobody knows its decimals."""
    try:
        return Decimal(major(amount, currency))
    except ValueError:
        return Decimal(amount)
