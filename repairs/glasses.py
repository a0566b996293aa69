"""What one person did alone that takes two, for the reviews: from the engine's seam, and as lists for the pages."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from repairs.acts import glass
from repairs.desk import Desk
from repairs.models import Batch
from repairs.models.glass import Broken, Glass, Verdict
from repairs.scope import visible
from workflows.authority.parties import PERSON
from workflows.models import Agent, Approval, BudgetChange, Policy, Stop
from workflows.models.stop import Target

Thing = Stop | Policy | BudgetChange | Approval


def keep(thing: Thing, *, by: str, why: str) -> None:
    """Wants a review of what the engine says was done alone."""
    what, said, team = told(thing)
    person = User.objects.get(username=by.removeprefix(PERSON))
    subject = thing.budget_id if isinstance(thing, BudgetChange) else thing.id
    glass.broke(what, subject, said, by=person, why=why, team=team)


def told(thing: Thing) -> tuple[Broken, str, str]:
    """What it is, in words, and whose agents it is about; "" where that can't be said of one team."""
    match thing:
        case Stop():
            team = team_of(thing.name) if thing.target == Target.AGENT else ""
            return Broken.STOP, f"lifted the stop on {thing.on}, which they had frozen", team
        case Policy():
            return Broken.POLICY, f"activated {thing}, which they had drafted", ""
        case BudgetChange():
            budget = thing.budget
            team = team_of(budget.name) if budget.kind == "agent" else ""
            return Broken.BUDGET, f"confirmed more for {budget}, which they had asked for", team
        case Approval():
            return Broken.APPROVAL, f"approved {thing.tool}, where another should have", thing.agent.team


def team_of(agent: str) -> str:
    return Agent.objects.filter(name=agent).values_list("team", flat=True).first() or ""


def waiting(desk: Desk) -> QuerySet[Glass]:
    return visible(desk, Glass).filter(reviewed_at=None)


def of_batch(desk: Desk, batch: Batch) -> Glass | None:
    """What its asker broke, if they did. Ids are in the order of time and the glass is broken right after the batch was
    made, so its index finds it among the first rows."""
    if not batch.alone:
        return None
    mine = visible(desk, Glass).filter(id__gt=batch.id, what=Broken.BATCH.value, subject=batch.id)
    return mine.select_related("reviewed_by").order_by("id").first()


def figures(desk: Desk, since: dt.datetime, now: dt.datetime) -> dict[str, Any]:
    """How often since then, and what came of it; what waits and what is late, whenever it was. One query."""
    recent, right = Q(at__gte=since), Q(verdict=Verdict.RIGHT.value)
    return visible(desk, Glass).aggregate(
        broken=Count("id", filter=recent),
        right=Count("id", filter=recent & right),
        wrong=Count("id", filter=recent & Q(verdict=Verdict.WRONG.value)),
        waiting=Count("id", filter=Q(reviewed_at=None)),
        late=Count("id", filter=Q(reviewed_at=None, due_at__lte=now)),
    )


def place(what: str, subject: uuid.UUID) -> str:
    """The address of what it was done to; a stop has no page of its own, of a write-off there is the act."""
    if what == Broken.STOP:
        return reverse("stops")
    return reverse(PLACES[what], args=[subject])


PLACES = {
    Broken.APPROVAL.value: "approval",
    Broken.BATCH.value: "batch",
    Broken.BUDGET.value: "budget",
    Broken.POLICY.value: "policy",
    Broken.WRITE_OFF.value: "admin:repairs_act_change",
}
