"""The repair queue: its order, its views, and their counts, all from the same queries. Used by home and queue.

`cases`: those that the person may see (`repairs.scope`).
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Mapping

from django.db.models import Case as When_
from django.db.models import Count, F, IntegerField, Q, QuerySet, Value, When

from repairs import counting
from repairs.choice import Choice
from repairs.models import Case
from repairs.models.case import CLOSED, LIVE
from repairs.words import clock
from repairs.words.harm import Harm
from repairs.words.marked import Phrase, _
from repairs.words.resting import rests

CAP = counting.CAP
AT_ONCE = 5 * CAP  # cases that one pass reads: about 60 ms
NEAR = dt.timedelta(hours=1)  # a cut-off nearer than this goes before everything
LAST = 1000  # beyond every rank: what somebody set aside for now comes after all that can be worked on
AGED = dt.timedelta(hours=24)  # nothing waits longer than this without moving up by one

ORDER = ("urgency", "-customers", "deadline", "id")


def harm_first(cases: QuerySet[Case], at: dt.datetime) -> QuerySet[Case]:
    """Live cases with their `urgency` as it was at this moment: 0 where a cut-off is near, else the rank, aged; what is
    snoozed comes last."""
    near = Q(cutoff__gte=at, cutoff__lte=at + NEAR)
    aged = Q(opened_at__lte=at - AGED)
    resting = Q(snoozed_until__gt=at)
    urgency = When_(
        When(near, then=Value(0)),
        When(resting, then=Value(LAST)),
        When(aged, then=F("rank")),
        default=F("rank") + 1,
        output_field=IntegerField(),
    )
    return live(cases).annotate(urgency=urgency)


def live(cases: QuerySet[Case]) -> QuerySet[Case]:
    return cases.filter(state__in=LIVE)


def why_here(case: Case, at: dt.datetime) -> str:
    """The sentence that says why a case stands where it does."""
    if case.cutoff and at <= case.cutoff <= at + NEAR:
        minutes = int((case.cutoff - at).total_seconds() // 60)
        return _("Cut-off in {minutes} min: {why}.", minutes=minutes, why=Phrase(case.cutoff_reason))
    if case.snoozed_until and case.snoozed_at(at):
        until = clock.said(case.snoozed_until, "%d %b %H:%M")
        return _("{cause}, until {until}.", cause=rests(case.snooze_cause), until=until)
    why = Phrase(case.rank_reason)  # stored in English; one of `repairs.words.harm`
    if case.opened_at <= at - AGED:
        return _("{why} It has waited for more than a day, so it moved up.", why=why)
    return why


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """A way to look at the queue. `chosen` picks its rows; the count beside its name uses the same."""

    name: str
    title: str
    chosen: Callable[[dt.datetime, int], Q]
    empty: str


VIEWS = (
    View(
        "all",
        _("All open"),
        lambda at, me: Q(),
        _("Nothing needs a person. Runs that get stuck appear here by themselves."),
    ),
    View(
        "mine",
        _("Mine"),
        lambda at, me: held(at) & Q(claimed_by=me),
        _("You hold no case. Open one and claim it with c."),
    ),
    View(
        "near",
        _("Cut-off within the hour"),
        lambda at, me: Q(cutoff__gte=at, cutoff__lte=at + NEAR),
        _("Nothing that can be done now becomes impossible within the hour."),
    ),
    View("free", _("Unclaimed"), lambda at, me: ~held(at), _("Every case is in somebody's hands.")),
    View(
        "unknown",
        _("Not known"),
        lambda at, me: Q(harm=Harm.UNKNOWN.value),
        _("It is known of every case what is outside."),
    ),
    View(
        "waiting",
        _("Waiting"),
        lambda at, me: Q(state="waiting") & ~Q(snoozed_until__gt=at),
        _("No case waits for an answer."),
    ),
    View("snoozed", _("Snoozed"), lambda at, me: Q(snoozed_until__gt=at), _("Nothing was set aside until later.")),
    View(
        "customer",
        _("Waiting for the customer"),
        lambda at, me: Q(snoozed_until__gt=at, snooze_cause="customer"),
        _("No customer is waited for."),
    ),
    View("handed", _("To read back"), lambda at, me: Q(handed_to=me), _("Nobody hands a case to you.")),
    View("escalated", _("Escalated"), lambda at, me: ~Q(escalated_to=""), _("Nobody was asked for help with a case.")),
    View(
        "unreachable",
        _("Could not check"),
        lambda at, me: Q(reasons__contains=[{"code": "unreachable"}]),
        _("Every system that was asked could be reached."),
    ),
    View(
        "quarantined",
        _("Quarantined"),
        lambda at, me: Q(reasons__contains=[{"code": "poison"}]),
        _("No work was kept away from the workers because it ends them."),
    ),
    View(
        "still",
        _("No progress"),
        lambda at, me: Q(reasons__contains=[{"code": "no_progress"}]),
        _("Everything that waits has waited no longer than it may."),
    ),
    View("late", _("Past deadline"), lambda at, me: late(at), _("No case is past its deadline.")),
)


def late(at: dt.datetime) -> Q:
    """Past its deadline; one whose time stands still is so only where it was before."""
    return Q(deadline__lt=at, paused_since__isnull=True) | Q(deadline__lt=F("paused_since"))


def held(at: dt.datetime) -> Q:
    return Q(claimed_by__isnull=False, lease_until__gt=at)


def view_of(name: str) -> View | None:
    return next((view for view in VIEWS if view.name == name), None)


ALL = Choice()


def counts(cases: QuerySet[Case], at: dt.datetime, me: int, choice: Choice = ALL) -> dict[str, int]:
    """How many live cases of that choice each view has, at most CAP + 1."""
    return tally(cases.filter(choice.q()), {view.name: view.chosen(at, me) for view in VIEWS})


def tally(cases: QuerySet[Case], wanted: Mapping[str, Q]) -> dict[str, int]:
    """How many live cases meet each of these, at most CAP + 1. One pass over all: a quarter of the work
    of counting each; where there are more than one pass reads, each: of what was passed over there could be some."""
    chosen = live(cases).order_by()
    found: dict[str, int] = chosen[: AT_ONCE + 1].aggregate(
        passed=Count("id"), **{name: Count("id", filter=q) if q else Count("id") for name, q in wanted.items()}
    )
    if found.pop("passed") <= AT_ONCE:
        return {name: min(number, CAP + 1) for name, number in found.items()}
    return dict(zip(wanted, counting.counts(*(chosen.filter(q) for q in wanted.values())), strict=True))


def similar(cases: QuerySet[Case], causes: Iterable[str]) -> dict[str, int]:
    """How many live cases have each of these causes."""
    wanted = {cause for cause in causes if cause}
    found = live(cases).filter(signature__in=wanted).order_by().values_list("signature").annotate(number=Count("id"))
    return dict(found) if wanted else {}


def newer(cases: QuerySet[Case], view: View, choice: Choice, at: dt.datetime, me: int) -> int:
    """How many cases of this view were opened since the page's order was frozen."""
    fresh = live(cases).filter(choice.q(), view.chosen(at, me), opened_at__gt=at)
    return fresh.order_by()[: CAP + 1].count()


def closed(cases: QuerySet[Case]) -> QuerySet[Case]:
    return cases.filter(state__in=CLOSED)


__all__ = [
    "CAP", "LIVE", "ORDER", "VIEWS", "Choice", "View", "closed", "counts", "harm_first", "newer", "similar", "view_of",
    "why_here",
]  # fmt: skip
