"""Home at a glance: each figure with what it counts and the address of exactly its rows. Used by the home page."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTransform
from django.urls import reverse

from repairs import asked, counting, frozen, worklist
from repairs.choice import Choice
from repairs.desk import Desk
from repairs.models import Case
from repairs.words import gauge as gauges
from repairs.words.harm import TITLES
from repairs.words.marked import _
from workflows.models import Gauge, Look, Tool

LOOKS = 200  # latest ones, among which is the last that was answered, or no system answers
SYSTEMS = 500  # tools looked at; who has more finds each on its page


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """`at`: where its rows are; `when`: the moment that matters most among them, said by `words`."""

    name: str
    title: str
    count: int
    at: str
    means: str
    words: str = ""
    when: dt.datetime | None = None
    which: str = ""  # the case whose moment that is


@dataclasses.dataclass(frozen=True, slots=True)
class System:
    """What tools of one name before the dot reach; `tool`: the one of them that is worst off."""

    name: str
    tool: str
    frozen: bool
    breaker: gauges.Reading


def rows(
    desk: Desk, cases: QuerySet[Case], now: dt.datetime, questions: Mapping[str, Any] | None = None
) -> list[tuple[str, list[Figure]]]:
    """(a heading, its figures). The figures by harm are all that is open, each case once. Three statements, and one for
    `questions`, where they weren't counted with something else."""
    me = desk.user.pk
    harms = {f"harm_{harm.value}": Choice(harm=harm.value).q() for harm in TITLES}
    count = worklist.tally(cases, {**{view.name: view.chosen(now, me) for view in worklist.VIEWS}, **harms})
    first = moments(cases, now, me)
    if questions is None:
        (questions,) = counting.figures(questions_of(desk, now))
    views = {
        view.name: Figure(view.name, view.title, count[view.name], queue(view=view.name), MEANS[view.name])
        for view in worklist.VIEWS
    }
    told = {"mine": (_("next cut-off"), first["next_cutoff"]), "snoozed": (_("next"), first["wakes"])}
    told |= {"all": (_("oldest"), first["opened"]), "unreachable": (_("since"), first["unreachable"])}
    for name, (words, moment) in told.items():
        views[name] = dataclasses.replace(views[name], words=words, when=moment)
    if nearest := (first["nearest"] or [None])[0]:
        views["mine"] = dataclasses.replace(views["mine"], which=f"C-{nearest}")
    views["mine"] = dataclasses.replace(views["mine"], title=_("Claimed by you"))
    views["unreachable"] = dataclasses.replace(views["unreachable"], title=_("Cases opened by it"))
    by_harm = [
        Figure(harm.value, title, count[f"harm_{harm.value}"], at, _("open cases where it is so"))
        for harm, title in TITLES.items()
        for at in [queue(view="all", harm=harm.value)]
    ]
    number, since = questions.get("number", 0), questions.get("oldest")
    oldest = dt.datetime.fromisoformat(since) if since else None
    means = _("questions to people that are still in their time")
    approvals = Figure("approve", _("To approve"), number, reverse("approvals"), means, _("oldest"), oldest)
    return [
        (_("Mine"), [views["mine"], views["handed"]]),
        (_("Team"), [views["all"], *by_harm]),
        (
            _("Of these"),
            [views["near"], views["free"], views["late"], views["escalated"], views["quarantined"], views["still"]],
        ),
        (_("Waiting"), [approvals, views["waiting"], views["customer"], views["snoozed"]]),
        (_("Could not check"), [views["unreachable"]]),
    ]


def questions_of(desk: Desk, now: dt.datetime) -> tuple[QuerySet[Any], dict[str, str]]:
    """A part of `counting.figures`."""
    rows = asked.to_decide(desk, now).order_by().values("asked_at")[: worklist.CAP + 1]
    return rows, {"number": "count(*)", "oldest": "min(asked_at)"}


def looks() -> tuple[QuerySet[Any], dict[str, str]]:
    """A part of `counting.figures`: when any system was last read, by the latest looks of the whole installation."""
    rows = Look.objects.order_by("-id").values("ended_at", "reached")[:LOOKS]
    return rows, {"number": "count(*)", "at": "max(ended_at) FILTER (WHERE reached)"}


def moments(cases: QuerySet[Case], now: dt.datetime, me: int) -> dict[str, Any]:
    chosen = {view.name: view.chosen(now, me) for view in worklist.VIEWS}
    ahead = chosen["mine"] & Q(cutoff__gte=now)
    return worklist.live(cases).aggregate(
        opened=Min("opened_at"),
        next_cutoff=Min("cutoff", filter=ahead),
        nearest=ArrayAgg("number", filter=ahead, order_by="cutoff"),
        wakes=Min("snoozed_until", filter=chosen["snoozed"]),
        unreachable=Min("opened_at", filter=chosen["unreachable"]),
    )


def queue(**narrowed: str) -> str:
    return f"{reverse('queue')}?{urlencode(narrowed)}"


MEANS = {
    "all": _("cases that a person must work on or wait with"),
    "mine": _("open cases whose claim you hold now"),
    "free": _("open cases that nobody holds now"),
    "unknown": _("open cases where it is not known what is outside"),
    "waiting": _("open cases that wait for somebody's answer"),
    "snoozed": _("open cases set aside until later"),
    "customer": _("of those set aside, the cases that wait for the customer's answer; their time stands still"),
    "near": _("open cases where something that can be done now can't be done any more within the hour"),
    "handed": _("open cases handed to you that you haven't read back"),
    "escalated": _("open cases with which help was asked for"),
    "unreachable": _("open cases where the system that would know refuses reads, or could not be reached"),
    "quarantined": _("open cases whose work ended every worker that took it"),
    "still": _("open cases where nothing got further for longer than it may"),
    "late": _("open cases past their deadline"),
}


def systems(desk: Desk, now: dt.datetime) -> list[System]:
    """Each system once, the worst of its tools first. One statement."""
    gauge = Gauge.objects.filter(tool=OuterRef("name"))
    stops = frozen.standing(desk).filter(target="tool", name=OuterRef("name"))
    tools = Tool.objects.filter(current=True).order_by("name").annotate(
        limits=KeyTransform("limits", "spec"),
        open_until=Subquery(gauge.values("open_until")),
        failures=Subquery(gauge.values("failures")),
        stopped=Exists(stops),
    )  # fmt: skip
    found: dict[str, System] = {}
    for row in tools.values("name", "limits", "open_until", "failures", "stopped")[:SYSTEMS]:
        reading = gauges.breaker(row["limits"], Measured(row["open_until"], row["failures"] or 0), now)
        one = System(row["name"].partition(".")[0], row["name"], row["stopped"], reading)
        if one.name not in found or trouble(one) > trouble(found[one.name]):
            found[one.name] = one
    return sorted(found.values(), key=lambda one: (-trouble(one), one.name))


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    open_until: dt.datetime | None
    failures: int


def trouble(one: System) -> int:
    return 3 if one.frozen else {"bad": 2, "doubt": 1}.get(one.breaker.tone, 0)
