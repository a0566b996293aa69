"""What could not be checked: effects whose authority refuses reads, or can't be reached. For home and their list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.db.models import F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, JSONObject

from repairs import frozen
from repairs.desk import Desk
from repairs.scope import visible
from workflows.models import Effect, Look
from workflows.policies.backoff import LOOK_CAP, SPREAD
from workflows.states import EffectState

MOST = 500  # of those given up and of those still asked for, each: more nobody reads line by line
SOON = dt.timedelta(seconds=LOOK_CAP * (1 + SPREAD) + 5)  # within which whatever couldn't be reached is asked again
ASKED = (EffectState.UNKNOWN.value, EffectState.ACKNOWLEDGED.value, EffectState.PENDING.value)
HEAVY = (
    "arguments", "result", "before", "poll", "reads", "origin", "targets", "scopes", "tool__spec", "step__template",
    "step__arguments", "step__result", "run__input", "run__residue", "run__people_reasons", "run__narrowed",
)  # fmt: skip


def unchecked(desk: Desk, now: dt.datetime, system: str = "") -> list[Any]:
    """Effects with `since`, when the first look failed, and `says`, what the last one met; the oldest first.
    `system`: what stands before the dot in the names of its tools. Two statements."""
    rows = [
        effect for one in both(desk, now, system) for effect in one.select_related("tool", "step", "run").defer(*HEAVY)
    ]
    return sorted(rows, key=lambda effect: (effect.since, effect.id))


def beside_held(desk: Desk, now: dt.datetime) -> tuple[list[tuple[str, int]], list[dict[str, Any]]]:
    """For home: what holds how many effects (`repairs.frozen`), and what could not be checked by system. One statement,
    since both are a few rows of one table."""
    told = JSONObject(tool=F("tool__name"), since=F("since"), says=F("says"))
    one = Value(1, output_field=IntegerField())
    rows = frozen.groups(desk).union(*(arm.values_list(told, one) for arm in both(desk, now)), all=True)
    held, failed = [], []
    for said, number in rows:
        if isinstance(said, dict):
            failed.append({**said, "since": dt.datetime.fromisoformat(said["since"])})
        else:
            held.append((said, number))
    return frozen.by_name(held), by_system(failed)


def both(desk: Desk, now: dt.datetime, system: str = "") -> list[QuerySet[Any]]:
    """Those that were given up, and those that are asked for again; each by an index of its own."""
    failed = Look.objects.filter(effect=OuterRef("id"), reached=False)
    found = visible(desk, Effect).annotate(
        since=Coalesce(Subquery(failed.order_by("id").values("begun_at")[:1]), "progress_at", "changed_at"),
        says=Subquery(failed.order_by("-id").values("reason")[:1]),
    )
    if system:
        found = found.filter(Q(tool__name=system) | Q(tool__name__startswith=f"{system}."))
    given_up = found.filter(state=EffectState.STUCK.value, reason="unreachable").order_by("-changed_at")
    asked = found.filter(state__in=ASKED, backoffs__gt=0, due_at__isnull=False, due_at__lte=now + SOON)
    return [given_up[: MOST + 1], asked.order_by("due_at")[: MOST + 1]]


def by_system(effects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each system once, with how many of its effects, since when, and what the last look of one met."""
    found: dict[str, dict[str, Any]] = {}
    for effect in sorted(effects, key=lambda effect: effect["since"]):
        name = effect["tool"].partition(".")[0]
        one = found.setdefault(name, {"name": name, "count": 0, "since": effect["since"], "says": ""})
        one["count"] += 1
        one["says"] = effect["says"] or one["says"]
    for one in found.values():
        one["shown"] = f"{one['count']:,}" if one["count"] <= MOST else f"{MOST:,}+"  # no more of each were read
    return list(found.values())
