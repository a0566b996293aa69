"""Home: what is mine, what the team has, what waits, and what could not be checked. Every figure leads to its rows."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone

from repairs import counting, frozen, glance, keyset, touched, unchecked, worklist
from repairs.models import Case
from repairs.notices import sending
from repairs.scope import visible
from repairs.site import frame
from repairs.views import live, queue
from repairs.views.runs import HEAVY
from repairs.views.screen import at_desk, screen, show
from workflows.models import Run

NEXT = 5  # enough to begin with; the queue has the rest
LATEST = 8


@screen
def home(request: HttpRequest) -> HttpResponse:
    now, desk = timezone.now(), at_desk(request)
    cases = visible(desk, Case)
    harmful = worklist.harm_first(cases, now).select_related("run", "claimed_by", "handed_to").defer(*queue.HEAVY)
    first = keyset.first_of(harmful, order=worklist.ORDER, size=NEXT)
    latest = visible(desk, Run).select_related("agent", "workflow").defer(*HEAVY)[:LATEST]
    framed = frame(request)
    stops = framed["frozen"]
    several = glance.questions_of(desk, now), glance.looks(), *touched.parts(cases, stops)
    questions, looked, *counted = counting.figures(*several)
    figures, systems = glance.rows(desk, cases, now, questions), glance.systems(desk, now)
    waiting, unreached = unchecked.beside_held(desk)
    return show(
        request,
        "console/home.html",
        here="home",
        framed={**framed, "frozen": touched.told(stops, counted)},
        now=now,
        figures=figures,
        handed=next(one for _, row in figures for one in row if one.name == "handed"),
        systems=systems,
        looked={"at": frozen.at(looked["at"]), "number": looked["number"]},
        tag=tag_of(figures, systems),
        unchecked=unreached,
        first=queue.rows_of(first, now),
        latest=latest,
        waiting=waiting,
        unsent=sending.failures() if desk.may_operate else "",
    )


@screen
def news(request: HttpRequest) -> HttpResponse:
    """Whether a figure or a system is another than the page shows. Its rows stay, so its figures do too."""
    now, desk = timezone.now(), at_desk(request)
    tag = tag_of(glance.rows(desk, visible(desk, Case), now), glance.systems(desk, now))
    return live.part(request, render_to_string("console/_news.html", {"of": "home"}), tag=tag)


def tag_of(figures: Sequence[tuple[str, Sequence[glance.Figure]]], systems: Sequence[glance.System]) -> str:
    counts = [(one.name, one.count) for _, row in figures for one in row]
    return live.tag_of(repr((counts, [(one.name, one.frozen, one.breaker.tone) for one in systems])))
