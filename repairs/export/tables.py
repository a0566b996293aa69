"""The tables behind queue, runs and one run's ledger: which columns a file has. Nothing large is read."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery

from repairs import reading, worklist
from repairs.export.rows import Table
from repairs.models import Case
from repairs.words.harm import TITLES, Harm
from workflows.models import Attempt, Decision, Effect, Look, Run
from workflows.money import major

CASE = (
    "case", "state", "sentence", "why here", "outside", "customer", "team", "deadline", "cut-off", "cut-off is when",
    "held by", "opened", "closed", "cause", "amount", "currency", "money", "customers", "run",
)  # fmt: skip
RUN = (
    "run", "state", "subject type", "subject id", "subject", "workflow", "version", "agent", "external id", "started",
    "ended",
)  # fmt: skip


LEDGER = (
    "effect", "step", "kind", "tool", "version", "state", "outside", "reason", "key", "sends", "last send", "last look",
    "undoes", "rule", "agent", "acted for", "known as", "amount", "currency", "first sent", "verified", "entries",
    "chain",
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


def of_ledger(run: Run) -> Table:
    """A row an effect, in the order of the run's steps. "chain" is the hash of its last entry in the journal."""

    def values(effect: Any) -> tuple[object, ...]:
        worth = effect.value or {}
        amount = money(worth["amount"], worth["currency"]) if worth.get("amount") is not None else None
        return (
            effect.id, effect.step.name, effect.kind, effect.tool.name, effect.tool.version, effect.state, effect.world,
            effect.reason, effect.key, effect.attempts, effect.outcome, effect.verdict, effect.compensates_id,
            effect.rule, effect.agent.name, effect.on_behalf_of, effect.external_ref, amount, worth.get("currency"),
            effect.first_sent_at, effect.verified_at, effect.seq, effect.head,
        )  # fmt: skip

    rows = Effect.objects.filter(run=run).select_related("step", "tool", "agent").defer(*HEAVY).annotate(
        of_step=F("step__ordinal"),
        outcome=last(Attempt, "outcome"),
        verdict=last(Look, "verdict"),
        rule=last(Decision, "rule"),
    )  # fmt: skip
    return Table(name=f"run-{run.id}", columns=LEDGER, rows=rows, order=("of_step", "id"), values=values)


HEAVY = (
    "arguments", "result", "before", "poll", "reads", "origin", "targets", "scopes", "blocked_by",
    "step__template", "step__arguments", "step__result", "tool__spec",
    "agent__tools", "agent__workflows", "agent__narrowed",
)  # fmt: skip


def last(of: Any, column: str) -> Subquery:
    """Of each effect's latest row of that kind."""
    return Subquery(of.objects.filter(effect=OuterRef("pk")).order_by("-id").values(column)[:1])


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
