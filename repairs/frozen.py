"""What is frozen, as one person may see it, and how much waits for each stop. Used by every frame, home and stops."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, DateTimeField, F, Q, QuerySet, Value
from django.utils import timezone

from repairs.acts.door import actor
from repairs.desk import Desk
from repairs.scope import visible
from repairs.words.waits import waits_for
from repairs.worklist import CAP
from workflows.models import Agent, Credential, Effect, Stop
from workflows.models.credential import CredentialState
from workflows.models.stop import StopState, Target
from workflows.states import EffectState


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """A stop in force; `waiting`: how many effects of the person's teams it holds now."""

    stop: Stop
    waiting: int
    why_not: str  # "" where this person may lift it
    glass: bool = False  # by breaking the glass


def seen_by(desk: Desk) -> QuerySet[Stop]:
    """Stops of tools, workflows and everything concern all; those of an agent its teams; those of a subject name a
    customer, so that people with teams see only the ones they made."""
    rows = Stop.objects.all()
    if desk.teams is None:
        return rows
    agents = Q(target=Target.AGENT.value, name__in=visible(desk, Agent).values("name"))
    subjects = Q(target=Target.SUBJECT.value, frozen_by=actor(desk.user))
    return rows.filter(~Q(target__in=[Target.AGENT.value, Target.SUBJECT.value]) | agents | subjects)


def in_force(desk: Desk) -> list[Stop]:
    return list(standing(desk).order_by("id")[:MOST])


def standing(desk: Desk) -> QuerySet[Stop]:
    unended = Q(until__isnull=True) | Q(until__gt=timezone.now())
    return seen_by(desk).filter(unended, state=StopState.FROZEN.value)


MOST = 100  # of what a page tells; who froze more sees the first


@dataclasses.dataclass(frozen=True, slots=True)
class Notice:
    """What every page says while something is held: a stop, or (kind "credential") a credential that was lost."""

    kind: str
    name: str
    since: dt.datetime
    by: str
    until: dt.datetime | None
    reason: str
    touches: Any = None  # a `repairs.touched.Touched`, where a page has counted


def told_everywhere(desk: Desk) -> QuerySet[Any]:
    """The rows of what every page says, which asks for them together with its figures."""
    stops = standing(desk).order_by().annotate(kind=F("target"), since=F("frozen_at"), by=F("frozen_by"))
    lost = Credential.objects.filter(state=CredentialState.LOST.value).order_by()
    never = Value(None, output_field=DateTimeField())
    lost_ones = lost.values_list(Value("credential"), "name", "changed_at", "owner", never, "why")
    columns = [field.name for field in dataclasses.fields(Notice) if field.name != "touches"]
    return stops.values_list(*columns).union(lost_ones, all=True)[:MOST]


def notices(told: Sequence[Mapping[str, Any]]) -> list[Notice]:
    """Those rows as they come in JSON, the oldest first."""
    found = [Notice(**{**row, "since": at(row["since"]), "until": at(row["until"])}) for row in told]
    return sorted(found, key=lambda notice: notice.since)


def at(moment: str | None) -> Any:
    return dt.datetime.fromisoformat(moment) if moment else None


def waiting(desk: Desk) -> Counter[str]:
    """How many effects each stop holds, by its id as text, and each credential, by its name."""
    found: Counter[str] = Counter()
    for blocked_by, number in groups(desk):
        for blocker in blocked_by:
            if by := blocker.get("stop") or blocker.get("credential"):
                found[by] += number
    return found


def by_name(groups: Iterable[tuple[list[dict[str, Any]], int]]) -> list[tuple[str, int]]:
    """The same of everything that holds effects, as home says it: most first."""
    found: Counter[str] = Counter()
    for blocked_by, number in groups:
        found[" and ".join(waits_for(blocker) for blocker in blocked_by)] += number
    return found.most_common(10)


def groups(desk: Desk) -> QuerySet[Any, Any]:
    """What holds, and how many effects are held by just that; at most CAP are counted. A few rows."""
    held = visible(desk, Effect).filter(state=EffectState.BLOCKED.value, reason="hold").order_by()[: CAP + 1]
    rows = Effect.objects.filter(id__in=held.values("id")).order_by().values("blocked_by")
    return rows.annotate(number=Count("id")).values_list("blocked_by", "number")
