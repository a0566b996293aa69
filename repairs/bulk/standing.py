"""How each case of a batch stands now: what would be done with it, or what was. For the page and for the task."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections import defaultdict
from typing import Any

from django.db.models import QuerySet

from repairs.bulk.versions import versioned
from repairs.models import Batch, BatchItem
from repairs.models.batch import ItemState
from repairs.words import clock
from repairs.words.batch import ItemFacts, Prospect, came_of, prospect
from workflows import making, toolbox
from workflows.models import Effect, Tool
from workflows.states import EffectState

HEAVY = (
    "case__run__input", "case__run__residue", "case__run__people_reasons", "case__run__narrowed", "case__found_by",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """`lookable`: the ids of its stuck effects that can be looked at; `came`: what a look has told so far."""

    item: BatchItem
    prospect: Prospect
    lookable: tuple[uuid.UUID, ...]
    came: str

    @property
    def waits(self) -> bool:
        return bool(self.item.state == ItemState.WAITING)


def lines(batch: Batch, items: QuerySet[BatchItem], now: dt.datetime) -> list[Line]:
    """Three queries, however many they are; no column that may be large is read."""
    rows = versioned(items, path="case").select_related("case__run", "case__claimed_by").defer(*HEAVY).order_by("id")
    found: list[Any] = list(rows)
    effects = unsettled([item.case.run_id for item in found])
    return [line(batch, item, effects[item.case.run_id], now) for item in found]


def line(batch: Batch, item: Any, effects: list[tuple[uuid.UUID, bool, bool]], now: dt.datetime) -> Line:
    case = item.case
    stuck = [(effect_id, can) for effect_id, can, is_stuck in effects if is_stuck]
    lookable = tuple(effect_id for effect_id, can in stuck if can)
    holder = case.holder_at(now)
    facts = ItemFacts(
        live=case.live,
        same=item.version_now == item.version,
        holder=case.claimed_by.get_username() if holder else "",
        until=clock.said(case.lease_until, "%H:%M") if holder else "",
        mine=holder == batch.by_id,
        stuck=len(stuck),
        lookable=len(lookable),
    )
    codes = {str(reason.get("code")) for reason in case.reasons if isinstance(reason, dict)}
    came = (
        came_of(batch.act, case.state, codes, looking=len(stuck) < len(effects)) if item.state == ItemState.DONE else ""
    )
    return Line(item, prospect(batch.act, facts), lookable, came)


def unsettled(run_ids: list[uuid.UUID]) -> dict[uuid.UUID, list[tuple[uuid.UUID, bool, bool]]]:
    """Of each run its stuck and unknown effects, each with whether it can be looked at, and whether it is stuck."""
    found: dict[uuid.UUID, list[tuple[uuid.UUID, bool, bool]]] = defaultdict(list)
    states = [EffectState.STUCK.value, EffectState.UNKNOWN.value]
    stuck = Effect.objects.filter(run__in=run_ids, state__in=states).order_by("id")
    effects = list(stuck.only("id", "run_id", "tool_id", "kind", "generation", "granted", "state", "fence", "seq"))
    tools = Tool.objects.in_bulk({effect.tool_id for effect in effects})
    for effect in effects:
        found[effect.run_id].append(
            (effect.id, can_look(effect, tools[effect.tool_id]), effect.state == EffectState.STUCK)
        )
    return found


def can_look(effect: Effect, tool: Tool) -> bool:
    """As the engine's verb asks."""
    try:
        verifies = toolbox.tool_of(tool).timings(effect.operation).verifies
    except LookupError:  # an undoing that its tool doesn't declare
        return False
    return verifies and making.may_look(effect)
