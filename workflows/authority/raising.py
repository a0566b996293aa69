"""Changes of budgets: what gives less is done at once; what gives more is asked for, and done by a second person's yes.

Every step of it is an entry of the budget's own history. Called by the console and `manage.py budget`.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from workflows import journal, ledger, rows
from workflows.authority import four_eyes
from workflows.authority.parties import PERSON, persons_behind
from workflows.authority.run_budgets import event, write_new
from workflows.errors import Denied, Flaw, Invalid, NotFound, StaleFence
from workflows.marked import _
from workflows.models import Agent, AgentKey, Budget, BudgetChange, Effect, Run, Tool, Workflow
from workflows.models.budget import OWNERS
from workflows.policies.spending import CURRENCY, EVER, LENGTHS, Amounts, gives_more
from workflows.signals import people_should_know
from workflows.why import reason

MOST = 2**53 - 1  # as in the API: whole numbers that every reader keeps
NOTHING = _("Nothing was changed.")


def change(
    owner: str, per: str, amounts: Mapping[str, int | None], *, by: str, why: str
) -> tuple[Budget, BudgetChange | None]:
    """Sets limits by unit; None takes one away. Returns the change, or None where the budget is new.

    Raises `Invalid`; `StaleFence` where another change of this budget waits for an answer."""
    why = reason(why)
    _check(owner, per, amounts)
    with transaction.atomic():
        now = rows.now()
        budget = Budget.objects.filter(owner=owner, per=per).select_for_update(no_key=True).first()
        if budget is None:
            return _new(owner, per, amounts, by=by, why=why, now=now), None
        limits = {**budget.limits, **amounts}
        wanted = {unit: amount for unit, amount in limits.items() if amount is not None}
        if wanted == budget.limits:
            raise Invalid(NOTHING, [Flaw("limits", wanted, _("is what {budget} has already", budget=str(budget)))])
        asked = BudgetChange(budget=budget, was=budget.limits, limits=wanted, by=by[:100], why=why, asked_at=now)
        if gives_more(budget.limits, wanted):
            if BudgetChange.objects.filter(budget=budget, state="asked").exists():
                raise StaleFence(
                    _("Another change of {budget} waits for an answer; answer it first.", budget=str(budget))
                )
            asked.state = "asked"
            _tell(budget, "ask_raise", by, {"was": budget.limits, "limits": wanted, "why": why}, now)
        else:
            asked.state = "done"
            _limit(budget, wanted, "lower", by, {"why": why}, now)
        asked.save()
        if asked.state == "asked":
            people_should_know.send(None, thing=asked)
    return budget, asked


def answer(change_id: uuid.UUID, *, yes: bool, by: str, why: str, glass: bool = False) -> BudgetChange:
    """A second person's word on what was asked. Who asked may take it back, and no more. `glass`: see `four_eyes`.

    Raises `NotFound`, `Denied`, `StaleFence` (answered already, or the budget is another by now)."""
    why = reason(why)
    with transaction.atomic():
        now = rows.now()
        found = BudgetChange.objects.filter(id=change_id).values_list("budget_id", flat=True).first()
        if found is None:
            raise NotFound(_("There is no such change."))
        budget = Budget.objects.select_for_update(no_key=True).get(id=found)
        asked = BudgetChange.objects.get(id=change_id)
        if asked.state != "asked":
            raise StaleFence(_("This change was {state} already.", state=asked.state))
        asked.alone = asked.by == by
        if yes:
            _second(budget, asked, by, glass)
        if yes and budget.limits != asked.was:
            since = _(
                "The limits of {budget} changed since this was asked; decline it and ask anew.", budget=str(budget)
            )
            raise StaleFence(since)
        asked.state, asked.answered_by, asked.answer, asked.answered_at = "done", by[:100], why, now
        told: dict[str, Any] = {"asked_by": asked.by, "why": asked.why, "answer": why, "alone": asked.alone}
        if yes and asked.alone:
            told |= four_eyes.broken(asked, by=by, why=why)
        if yes:
            _limit(budget, asked.limits, "raise", by, told, now)
        else:
            asked.state = "declined"
            _tell(budget, "decline_raise", by, told, now)
        asked.save()
        if yes:
            _ring(budget)
    return asked


def _second(budget: Budget, asked: BudgetChange, by: str, glass: bool) -> None:
    """The second is another person, and never the one for whom the agent spends."""
    if by == asked.by and not four_eyes.one_may(glass=glass):
        raise Denied(_("{by} asked for this; another person must confirm it (FOUR_EYES=required).", by=by))
    if by.removeprefix(PERSON).casefold() in persons_behind(_parties(budget)):
        raise Denied(_("{by} is the one for whom this is spent; another person must confirm it.", by=by))


def _parties(budget: Budget) -> set[str]:
    """For whom the agent of this budget, or one of its keys, acts; none where several agents spend."""
    if budget.kind == "agent":
        agent, keys = Agent.objects.filter(name=budget.name), AgentKey.objects.filter(agent__name=budget.name)
        return {*agent.values_list("on_behalf_of", flat=True), *keys.values_list("on_behalf_of", flat=True)}
    if budget.kind == "run":
        run = Run.objects.filter(id=budget.name).values_list("on_behalf_of", "agent__on_behalf_of").first()
        return set(run or ())
    return set()


def _check(owner: str, per: str, amounts: Mapping[str, int | None]) -> None:
    flaws = []
    kind, _colon, name = owner.partition(":")
    if kind not in OWNERS or (kind == "all") != (not name):
        flaws.append(Flaw("owner", owner, f"must be one of {', '.join(OWNERS)}; all has no name, the others need one"))
    elif not _exists(kind, name):
        flaws.append(Flaw("name", name, f"there is no {kind} of this name"))
    if per not in (EVER, *LENGTHS):
        flaws.append(Flaw("per", per, f"must be one of {', '.join((EVER, *LENGTHS))}"))
    elif kind == "run" and per != EVER:
        flaws.append(Flaw("per", per, _("a run has one budget for all of its time")))
    if not amounts:
        flaws.append(Flaw("limits", {}, _("say at least one: money, calls, effects, customers or seconds")))
    for unit, amount in amounts.items():
        known = unit in ("calls", "effects", "customers", "milliseconds") or CURRENCY.fullmatch(unit)
        if not known:
            flaws.append(
                Flaw("unit", unit, _("is neither a currency of three capitals, nor calls, effects, customers"))
            )
        elif amount is not None and not 0 <= amount <= MOST * (1000 if unit == "milliseconds" else 1):
            flaws.append(Flaw(unit, amount, _("must be 0 to {most}", most=MOST)))
    if flaws:
        raise Invalid(NOTHING, flaws)


def _exists(kind: str, name: str) -> bool:
    match kind:
        case "agent":
            return Agent.objects.filter(name=name).exists()
        case "tool":
            return Tool.objects.filter(name=name).exists()
        case "workflow":
            return Workflow.objects.filter(name=name).exists()
        case "run":
            return Budget.objects.filter(owner=f"run:{name}").exists()  # its agent gave it one, or it never had any
        case _:
            return True


def _new(owner: str, per: str, amounts: Mapping[str, int | None], *, by: str, why: str, now: dt.datetime) -> Budget:
    """A first limit takes nothing from safety: until now there was none."""
    limits = {unit: amount for unit, amount in amounts.items() if amount is not None}
    budget = Budget(owner=owner, per=per, limits=limits, created_at=now)
    budget.line = [budget.id]
    write_new(budget, by, {"limits": limits, "why": why}, now)
    return budget


def _limit(budget: Budget, limits: Amounts, name: str, by: str, told: dict[str, Any], now: dt.datetime) -> None:
    was, budget.limits = budget.limits, limits
    budget.revision += 1
    _tell(budget, name, by, {"was": was, "limits": limits, **told}, now)


def _tell(budget: Budget, name: str, by: str, told: dict[str, Any], now: dt.datetime) -> None:
    made = journal.chain([event(budget, name, by, told)], at=now)
    budget.save(update_fields=["limits", "revision", "seq", "head"])
    journal.write(made)


def _ring(budget: Budget) -> None:
    """The revision is what lets waiters go; the bell only wakes whoever looks at it."""
    waiting = Effect.objects.filter(
        state="blocked", reason="budget", blocked_by__contains=[{"budget": str(budget.id)}]
    ).values_list("run_id", flat=True)
    ledger.notify(set(waiting), work=True)
