"""What could not be checked: effects whose authority refuses reads, or can't be reached. For home and their list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Min, Q, QuerySet
from django.db.models.functions import JSONObject

from repairs import frozen
from repairs.counting import CAP
from repairs.desk import Desk
from repairs.scope import visible
from workflows.models import Effect, Tool
from workflows.states import UNCHECKED

ORDER = ("unreached_since", "id")


def unchecked(desk: Desk, system: str = "") -> QuerySet[Effect]:
    """Effects whose last look or poll got no answer. `system`: what stands before the dot in the names of its tools,
    whose ids are asked for first."""
    found = visible(desk, Effect).filter(unreached_since__isnull=False, state__in=[state.value for state in UNCHECKED])
    if not system:
        return found
    tools = Tool.objects.filter(Q(name=system) | Q(name__startswith=f"{system}."))
    return found.filter(tool__in=list(tools.values_list("id", flat=True)))


def beside_held(desk: Desk) -> tuple[list[tuple[str, int]], list[dict[str, Any]]]:
    """For home: what holds how many effects (`repairs.frozen`), and what could not be checked by system. One statement,
    since both are a few rows of one table."""
    first = unchecked(desk).order_by(*ORDER).values("id")[: CAP + 1]
    by_tool = Effect.objects.filter(id__in=first).order_by().values("tool__name").annotate(number=Count("id"))
    latest = ArrayAgg("unreached", order_by="-unreached_since")
    told = JSONObject(tool=F("tool__name"), since=Min("unreached_since"), says=latest)
    rows = frozen.groups(desk).union(by_tool.annotate(told=told).values_list("told", "number"), all=True)
    held, failed = [], []
    for said, number in rows:
        if isinstance(said, dict):
            failed.append({**said, "number": number, "since": dt.datetime.fromisoformat(said["since"])})
        else:
            held.append((said, number))
    return frozen.by_name(held), by_system(failed)


def by_system(tools: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each system once, with how many of its effects, since when, and what the last look of one met."""
    found: dict[str, dict[str, Any]] = {}
    for tool in sorted(tools, key=lambda tool: tool["since"]):
        name = tool["tool"].partition(".")[0]
        one = found.setdefault(name, {"name": name, "count": 0, "since": tool["since"], "says": ""})
        one["count"] += tool["number"]
        one["says"] = tool["says"][0]
    many = sum(one["count"] for one in found.values()) > CAP  # the oldest of all were counted
    for one in found.values():
        one["shown"] = f"{one['count']:,}{'+' if many else ''}"
    return list(found.values())
