"""How far a case's trouble reaches: open cases of its cause, its customer, its tool's version. For the case's page."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib.postgres.aggregates import JSONBAgg
from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.urls import reverse

from repairs import counting, worklist
from repairs.choice import Choice
from repairs.desk import Desk
from repairs.models import Case
from repairs.scope import visible
from repairs.words.cause import split
from repairs.words.marked import _


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Open cases that have one thing in common, this one among them, and the address of exactly these."""

    title: str
    name: str
    count: int
    at: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Radius:
    """`customers`, `money`: of the cases of this cause; 0 and none where there are too many to be added up. `tool`: ""
    where no tool of it is to blame."""

    reaches: list[Reach]
    customers: int
    money: list[dict[str, Any]]
    tool: str
    subject: str

    @property
    def alone(self) -> bool:
        return all(reach.count <= 1 for reach in self.reaches)


def radius(desk: Desk, case: Case) -> Radius | None:
    """None where the case is closed or says no cause. One statement."""
    if not case.live or not case.signature:
        return None
    tool, version = split(case.signature)[:2]
    subject = f"{case.run.subject_type}:{case.run.subject_id}"
    shared = {"cause": (_("of this cause"), case.signature, Choice(cause=case.signature))}
    shared["customer"] = (_("of this customer"), case.run.subject_label or subject, Choice(customer=subject))
    if version:
        shared["version"] = (_("stuck at this version of the tool"), version, Choice(cause=version))
    found = tally(worklist.live(visible(desk, Case)), {name: one[2].q() for name, one in shared.items()})
    reaches = [
        Reach(title=title, name=name, count=found[key], at=f"{reverse('queue')}?{urlencode(choice.kept())}")
        for key, (title, name, choice) in shared.items()
    ]
    money = added(sums for sums in found["money"] or [])
    return Radius(reaches=reaches, customers=found["customers"], money=money, tool=tool, subject=subject)


def tally(cases: QuerySet[Case], wanted: dict[str, Q]) -> dict[str, Any]:
    """How many cases meet each; of the first also how many customers, and their money, unless they are too many."""
    first, *_others = each = [cases.filter(q) for q in wanted.values()]
    subject = Concat(F("run__subject_type"), Value(":"), F("run__subject_id"))
    some = Case.objects.filter(id__in=first.order_by().values("id")[: worklist.CAP + 1]).order_by()
    sums = some.values(of=Value(1)).annotate(
        customers=Count(subject, distinct=True), money=JSONBAgg("value", filter=~Q(value=[]))
    )
    counts, told = counting.counts_and_rows(each, sums.values("customers", "money"))
    found = dict(zip(wanted, counts, strict=True))
    return {**found, **(told[0] if told and counts[0] <= worklist.CAP else {"customers": 0, "money": None})}


def added(all_of_them: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Per currency, never across."""
    totals: dict[str, int] = {}
    for sums in all_of_them:
        for one in sums:
            totals[one["currency"]] = totals.get(one["currency"], 0) + int(one["amount"])
    return [{"amount": amount, "currency": currency} for currency, amount in sorted(totals.items())]
