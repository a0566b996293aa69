"""Reports: the figures that are kept, each with its definition and its rows."""

from __future__ import annotations

import dataclasses

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from repairs import glasses
from repairs.views.reviews import WINDOW
from repairs.views.screen import at_desk, screen, show
from repairs.words.marked import _


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    title: str
    at: str
    means: str
    figures: str = ""
    late: bool = False


@screen
def reports(request: HttpRequest) -> HttpResponse:
    now, desk = timezone.now(), at_desk(request)
    told = glasses.figures(desk, now - WINDOW, now)
    return show(request, "console/reports.html", here="reports", now=now, reports=list_of(told, watches=desk.watches))


def list_of(told: dict[str, int], *, watches: bool) -> list[Report]:
    """`watches`: whether the person answers for how others decide."""
    done = _("{broken} in 30 days: {right} right, {wrong} wrong; {waiting} to review", **told)
    late = told["late"]
    if late:
        done = _("{done}, {late} of them late", done=done, late=late)
    found = [
        Report(_("Open cases"), reverse("home"), _("what needs a person now, by what is outside, and what is late")),
        Report(_("How sends ended"), reverse("tools"), _("of each tool in 24 hours: sends and undoings by outcome")),
        Report(_("Money and calls"), reverse("budgets"), _("what each budget allows, what is taken and what is held")),
        Report(
            _("Done alone, though it takes two"), reverse("reviews"), _("and what others said of each"), done, late > 0
        ),
        Report(_("Cases as a file"), reverse("queue-export"), _("every open case, a row each, for spreadsheets")),
        Report(_("Runs as a file"), reverse("runs-export"), _("the latest 10,000 runs, a row each, for spreadsheets")),
    ]
    means = _("of each person in 30 days: decisions, approvals, how long they looked")
    watch = Report(_("How people decide"), reverse("approvals-watch"), means)
    return [*found[:3], watch, *found[3:]] if watches else found
