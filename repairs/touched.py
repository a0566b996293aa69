"""What a stop touches: how many open cases, of how many customers, and the address of just these. For home."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Concat
from django.urls import reverse

from repairs import worklist
from repairs.choice import Choice
from repairs.frozen import Notice
from repairs.models import Case
from repairs.words.marked import _, listed, ngettext
from workflows.models.stop import Target

SAID = 3  # stops that the banner names
MOST = 1_000  # cases that are counted of each: their customers are read one by one
FIGURES = {"cases": "count(*)", "customers": "count(DISTINCT customer)"}


@dataclasses.dataclass(frozen=True, slots=True)
class Touched:
    words: str
    at: str  # "" where there is no such case


def choice_of(stop: Notice) -> Choice | None:
    """Which of the open cases: those that the tool caused, those of the agent or the customer. None where no column
    leads to them, and of a credential."""
    match stop.kind:
        case Target.TOOL:
            return Choice(cause=stop.name)
        case Target.AGENT:
            return Choice(agent=stop.name)
        case Target.SUBJECT:
            return Choice(customer=stop.name)
        case Target.EVERYTHING:
            return Choice()
        case _:
            return None


def parts(cases: QuerySet[Case], stops: Sequence[Notice]) -> list[tuple[QuerySet[Any], dict[str, str]]]:
    """What is to be counted of the stops that can be, in their order."""
    chosen = [choice for stop in stops[:SAID] if (choice := choice_of(stop))]
    return [(listing(cases, choice), FIGURES) for choice in chosen]


def listing(cases: QuerySet[Case], choice: Choice) -> QuerySet[Any]:
    customer = Concat(F("run__subject_type"), Value(":"), F("run__subject_id"))
    found = worklist.live(cases).filter(choice.q()).order_by()
    return found.annotate(customer=customer).values("customer")[: MOST + 1]


def told(stops: Sequence[Notice], counted: Sequence[Mapping[str, int]]) -> list[Notice]:
    """The stops with what was counted of them."""
    figures = iter(counted)
    return [
        dataclasses.replace(stop, touches=touched(choice, next(figures))) if (choice := choice_of(stop)) else stop
        for stop in stops[:SAID]
    ] + [*stops[SAID:]]


def touched(choice: Choice, found: Mapping[str, int]) -> Touched:
    cases, customers = found.get("cases", 0), found.get("customers", 0)
    if not cases:
        return Touched(_("no open case"), "")
    more = "+" if cases > MOST else ""
    shown = {"cases": f"{min(cases, MOST):,}{more}", "customers": f"{min(customers, MOST):,}{more}"}
    words = listed(
        [
            ngettext("{cases} open case", "{cases} open cases", cases, cases=shown["cases"]),
            ngettext("{customers} customer", "{customers} customers", customers, customers=shown["customers"]),
        ]
    )
    return Touched(words, f"{reverse('queue')}?{urlencode({'view': 'all', **choice.kept()})}")
