"""Budgets as one person may see them: those of all, of their teams' agents and of their runs; and who waits."""

from __future__ import annotations

import dataclasses
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet
from django.http import Http404

from repairs.desk import Desk
from repairs.scope import one, visible
from repairs.words import purse, terms
from workflows.models import Agent, Budget, BudgetChange, Effect, Entry, Payload, Run
from workflows.policies.spending import LENGTHS
from workflows.states import EffectState

MOST = 200  # budgets on the list; who has more finds each at its agent, tool or run
MOST_WAITING = 1000  # effects that are looked at to tell who waits
LATEST = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """`name`: what it is of; `run`: where it is a run's; `asked`: the change that waits for an answer."""

    budget: Budget
    name: str
    per: str
    lines: list[purse.Line]
    waiting: int
    run: Run | None
    asked: BudgetChange | None


@dataclasses.dataclass(frozen=True, slots=True)
class Past:
    entry: Entry
    said: str
    payload: object


def listed(desk: Desk) -> list[Shown]:
    """The standing ones by name, then those of runs for which somebody waits, or a change."""
    standing = Budget.objects.exclude(owner__startswith="run:")
    if desk.teams is not None:
        standing = standing.filter(~Q(owner__startswith="agent:") | Q(owner__in=_own(desk)))
    counts = waiting(desk)
    asked = BudgetChange.objects.filter(state="asked").values_list("budget_id", flat=True)[:MOST]
    concerned = {*counts, *asked}
    of_runs = Budget.objects.filter(owner__startswith="run:", id__in=concerned).order_by("-id")[:MOST]
    return shown(desk, [*standing.order_by("owner", "per")[:MOST], *of_runs], counts)


def _own(desk: Desk) -> list[str]:
    return [f"agent:{name}" for name in visible(desk, Agent).values_list("name", flat=True)]


def found(desk: Desk, budget_id: uuid.UUID) -> Budget:
    """The budget, or 404: one of a run or an agent of other teams is like one that never was."""
    budget = one(Budget.objects.all(), id=budget_id)
    own = {"run": Q(id__in=_run_ids([budget])), "agent": Q(name=budget.name)}.get(budget.kind)
    if own is not None and not visible(desk, Run if budget.kind == "run" else Agent).filter(own).exists():
        raise Http404("There is no such thing.")
    return budget


def may_change(desk: Desk, budget: Budget) -> bool:
    """What all teams spend from is changed by who sees all of them."""
    return desk.teams is None or budget.kind in ("run", "agent")


def waiting(desk: Desk) -> Counter[uuid.UUID]:
    """How many effects that the person may see wait for each budget."""
    counts: Counter[uuid.UUID] = Counter()
    for blocked_by in waiters(desk).values_list("blocked_by", flat=True)[:MOST_WAITING]:
        counts.update(uuid.UUID(by["budget"]) for by in blocked_by if "budget" in by)
    return counts


def waiters(desk: Desk, budget: Budget | None = None) -> QuerySet[Effect]:
    rows = visible(desk, Effect).filter(state=EffectState.BLOCKED.value, reason="budget")
    if budget is not None:
        rows = rows.filter(blocked_by__contains=[{"budget": str(budget.id)}])
    return rows.order_by("epoch", "ordinal")


def shown(desk: Desk, budgets: Sequence[Budget], counts: Counter[uuid.UUID]) -> list[Shown]:
    runs = {str(run.id): run for run in visible(desk, Run).filter(id__in=_run_ids(budgets)).defer("input", "residue")}
    asked = {c.budget_id: c for c in BudgetChange.objects.filter(budget__in=budgets, state="asked")}
    return [
        Shown(
            budget=budget,
            name=terms.on(budget.kind, budget.name),
            per=purse.PER[budget.per],
            lines=purse.lines(budget.limits, budget.used, budget.reserved, budget.aside),
            waiting=counts[budget.id],
            run=runs.get(budget.name),
            asked=asked.get(budget.id),
        )
        for budget in budgets
        if budget.kind != "run" or budget.name in runs
    ]


def _run_ids(budgets: Iterable[Budget]) -> list[uuid.UUID]:
    return [uuid.UUID(budget.name) for budget in budgets if budget.kind == "run"]


def ends(budget: Budget) -> object:
    """When the window of what is counted ends; None where there is none."""
    return budget.window + LENGTHS[budget.per] if budget.window else None


def history(budget: Budget) -> list[Past]:
    entries = list(Entry.objects.filter(subject_id=budget.id).order_by("-seq")[:LATEST])
    told = {p.entry_id: p.data for p in Payload.objects.filter(entry_id__in=[entry.id for entry in entries])}
    return [Past(one, purse.EVENTS.get(one.event, one.event), _own_words(told.get(one.id))) for one in entries]


def _own_words(data: dict[str, object] | None) -> dict[str, object]:
    """Without the budget's name, which the page has."""
    return {name: value for name, value in (data or {}).items() if name != "of"}
