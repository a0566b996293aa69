"""A person's part in budgets: changing limits, and a second person's answer. The engine's verb says what takes two."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from django.http import Http404

from repairs import purses
from repairs.acts import glass as glasses
from repairs.acts.door import actor
from repairs.desk import Desk
from repairs.roles import APPROVER, OPERATOR, REPAIRER
from repairs.words.marked import _
from workflows.authority import raising
from workflows.errors import Denied
from workflows.models import Budget, BudgetChange

MAY_CHANGE = frozenset({REPAIRER, OPERATOR})


def change(desk: Desk, budget: Budget, amounts: Mapping[str, int | None], *, why: str) -> BudgetChange | None:
    """The change as it stands afterwards: done, or asked. Raises `Denied`, `Invalid`, `StaleFence`."""
    if flaw := may_not_change(desk, budget):
        raise Denied(flaw)
    return raising.change(budget.owner, budget.per, amounts, by=actor(desk.user), why=why)[1]


def may_not_change(desk: Desk, budget: Budget) -> str:
    """Why this person can't change its limits; "" where they can."""
    if not desk.roles & MAY_CHANGE:
        return _("A repairer or an operator can change limits.")
    if not purses.may_change(desk, budget):
        return _("All teams spend from this; who changes it must see all of them.")
    return ""


def answer(desk: Desk, change_id: uuid.UUID, *, yes: bool, why: str, glass: bool = False) -> BudgetChange:
    """`glass`: they asked for it (`acts.glass`). Raises `Denied`, `StaleFence`, `Invalid`."""
    asked = BudgetChange.objects.select_related("budget").filter(id=change_id).first()
    if asked is None:
        raise Http404("There is no such thing.")
    purses.found(desk, asked.budget_id)
    if flaw := may_not_answer(desk, asked, yes=yes):
        raise Denied(flaw)
    if glass:
        glasses.may(desk.user)
    return raising.answer(change_id, yes=yes, by=actor(desk.user), why=why, glass=glass)


def may_not_answer(desk: Desk, asked: BudgetChange, *, yes: bool) -> str:
    """Why this person can't; "" where they can. Who asked may always take it back."""
    if not yes and asked.by == actor(desk.user):
        return ""
    if APPROVER not in desk.roles:
        return _("An approver answers what was asked.")
    if not purses.may_change(desk, asked.budget):
        return _("All teams spend from this; who answers must see all of them.")
    return ""
