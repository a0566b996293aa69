"""Budgets: what each allows, what is taken, who waits; of one its history, the form that changes it, the answer."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs import purses
from repairs.acts import budget as acts
from repairs.acts import proof
from repairs.acts.door import actor
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words import purse
from repairs.words.marked import _
from workflows.errors import Denied, Flaw, Invalid, MakegoodError, NotFound, StaleFence
from workflows.models import Budget, BudgetChange
from workflows.policies.spending import CURRENCY, TIME

STATUS: dict[type[MakegoodError], int] = {Denied: 403, NotFound: 404, StaleFence: 409}
COUNTS = {unit: purse.NAMES[unit] for unit in ("calls", "effects", "customers", TIME)}
LONGEST_NUMBER = 16  # digits


@screen
def budgets(request: HttpRequest) -> HttpResponse:
    return show(request, "console/budgets.html", here="budgets", rows=purses.listed(at_desk(request)))


@screen
def budget(request: HttpRequest, budget_id: uuid.UUID) -> HttpResponse:
    return page(request, purses.found(at_desk(request), budget_id))


@act
def change(request: HttpRequest, budget_id: uuid.UUID) -> HttpResponse:
    found = purses.found(at_desk(request), budget_id)
    try:
        made = acts.change(at_desk(request), found, amounts(request, found), why=request.POST.get("why", ""))
    except MakegoodError as error:
        return page(request, found, error=error, typed=request.POST.dict())
    waits = made is not None and made.state == "asked"
    asks = _("A second person is asked; until then the limits stay.")
    tell(request, asks if waits else _("It holds from now on."))
    return redirect("budget", found.id)


@act
def answer(request: HttpRequest, change_id: uuid.UUID, yes: bool) -> HttpResponse:
    asked = BudgetChange.objects.select_related("budget").filter(id=change_id).first()
    if asked is None:
        raise Http404("There is no such thing.")
    try:
        if yes or asked.by != actor(at_desk(request).user):
            proof.demand(request, at_desk(request), strong=yes)
        glass = request.POST.get("glass") == "yes"
        acts.answer(at_desk(request), change_id, yes=yes, why=request.POST.get("why", ""), glass=glass)
    except MakegoodError as error:
        return page(request, purses.found(at_desk(request), asked.budget_id), error=error, typed=request.POST.dict())
    tell(request, _("Raised; what waited for it goes on.") if yes else _("Declined; the limits stay."))
    return redirect("budget", asked.budget_id)


def amounts(request: HttpRequest, found: Budget) -> dict[str, int | None]:
    """What the form says, by unit: only what differs; None where a limit was emptied. Raises `Invalid`."""
    wanted: dict[str, int | None] = {}
    for unit in [*COUNTS, *(unit for unit in found.limits if unit not in COUNTS)]:
        wanted[unit] = whole(unit, request.POST.get(f"limit-{unit}", "").strip())
    if currency := request.POST.get("currency", "").strip():
        if not CURRENCY.fullmatch(currency):
            raise Invalid(NOTHING, [Flaw("currency", currency, _("must be three capitals, like EUR"))])
        wanted[currency] = whole(currency, request.POST.get("amount", "").strip())
    return {unit: amount for unit, amount in wanted.items() if amount != found.limits.get(unit)}


NOTHING = _("Nothing was changed.")


def whole(unit: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > LONGEST_NUMBER:
        flaw = _("must be a whole number; empty limits it no more")
        raise Invalid(NOTHING, [Flaw(COUNTS.get(unit, unit), text, flaw)])
    return int(text) * (1000 if unit == TIME else 1)


def page(
    request: HttpRequest, found: Budget, *, error: MakegoodError | None = None, typed: dict[str, Any] | None = None
) -> HttpResponse:
    """`error`: a refusal, with what was typed."""
    desk = at_desk(request)
    waiters = purses.waiters(desk, found).select_related("run", "step", "tool").defer("tool__spec")
    rows = list(waiters[: purses.LATEST + 1])
    shown = purses.shown(desk, [found], Counter({found.id: len(rows)}))[0]
    asked = shown.asked
    kept = typed or {}
    units = [*COUNTS, *(unit for unit in found.limits if unit not in COUNTS)]
    context: dict[str, Any] = {
        "shown": shown,
        "ends": purses.ends(found),
        "waiters": rows[: purses.LATEST],
        "more": len(rows) > purses.LATEST,
        "past": purses.history(found),
        "asked_lines": purse.compared(asked.was, asked.limits) if asked else [],
        "why_not": acts.may_not_change(desk, found),
        "why_no_yes": acts.may_not_answer(desk, asked, yes=True) if asked else "",
        "may_decline": asked is not None and not acts.may_not_answer(desk, asked, yes=False),
        "mine": asked is not None and asked.by == actor(desk.user),
        "alone": desk.alone,
        "breaks": desk.breaks,
        "fields": [(unit, COUNTS.get(unit, unit), kept.get(f"limit-{unit}", _shown(found, unit))) for unit in units],
        "typed": kept,
        "kept": kept.get("why", ""),
        "error": error,
    }
    status = STATUS.get(type(error), 400) if error else 200
    return show(request, "console/budget.html", here="budgets", status=status, **context)


def _shown(found: Budget, unit: str) -> str:
    limit = found.limits.get(unit)
    if limit is None:
        return ""
    return f"{limit / 1000:g}" if unit == TIME else str(limit)
