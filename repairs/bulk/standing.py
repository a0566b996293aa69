"""How each case of a batch stands now: what would be done with it, or what was. For the page and for the task."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from repairs import preview
from repairs.bulk.came import came
from repairs.bulk.sending import Sending, sendings
from repairs.bulk.versions import versioned
from repairs.models import Batch, BatchItem
from repairs.models.act import ActKind
from repairs.models.batch import ItemState
from repairs.words import clock
from repairs.words.batch import ItemFacts, Prospect, SendingFacts, came_of, prospect
from repairs.words.marks import mark
from workflows import making, toolbox
from workflows.models import Effect, Tool
from workflows.states import CaseState, EffectState

HEAVY = (
    "case__run__input", "case__run__residue", "case__run__people_reasons", "case__run__narrowed", "case__found_by",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`came`: what has come so far of what was asked for; `lookable`: the ids of its stuck effects that can be looked
    at; `sending`: of an act that sends."""

    item: BatchItem
    prospect: Prospect
    came: str = ""
    lookable: tuple[uuid.UUID, ...] = ()
    sending: Sending | None = None

    @property
    def waits(self) -> bool:
        return bool(self.item.state == ItemState.WAITING)

    @property
    def kind(self) -> str:
        """The word by which it is counted."""
        return self.came or (self.prospect.kind if self.waits else "") or mark("batch_item", self.item.state).word


def lines(batch: Batch, items: QuerySet[BatchItem], now: dt.datetime, *, whole: bool = True) -> list[Line]:
    """In a constant number of statements; no column that may be large is read, but for `whole`: what each of those
    that wait would send."""
    rows = versioned(items, path="case").select_related("case__run", "case__claimed_by").order_by("id")
    if batch.sends:
        return sent(batch, rows.select_related("case__run__workflow") if whole else rows.defer(*HEAVY), now, whole)
    found: list[Any] = list(rows.defer(*HEAVY))
    effects = unsettled([item.case.run_id for item in found])
    return [line(batch, item, effects[item.case.run_id], now) for item in found]


def sent(batch: Batch, rows: QuerySet[Any], now: dt.datetime, whole: bool) -> list[Line]:
    found: list[Any] = list(rows)
    ended = came(batch.act, [item for item in found if item.state == ItemState.DONE], now)
    waiting = [item.case for item in found if item.state == ItemState.WAITING] if whole else []
    made: Mapping[Any, Sending] = sendings(ActKind(batch.act), waiting, at=batch.made_at, now=now) if waiting else {}
    old = now - batch.made_at > preview.LASTS
    return [
        Line(
            item=item,
            prospect=prospect(batch.act, facts_of(batch, item, now, sending=of_sending(item, made, old))),
            came=ended.get(item.id, ""),
            sending=made.get(item.case_id),
        )
        for item in found
    ]


def of_sending(item: BatchItem, made: Mapping[Any, Sending], old: bool) -> SendingFacts | None:
    one = made.get(item.case_id)
    if one is None:
        return None
    return SendingFacts(
        offered=one.offered,
        why_not=one.why_not,
        requests=one.requests,
        same=(item.preview, item.effect_id) == (one.digest, one.effect.id if one.effect else None),
        old=old,
        long=one.large,
        flawed=one.flawed,
    )


def facts_of(batch: Batch, item: Any, now: dt.datetime, **more: Any) -> ItemFacts:
    case, holder = item.case, item.case.holder_at(now)
    return ItemFacts(
        live=case.live,
        same=item.version_now == item.version,
        holder=case.claimed_by.get_username() if holder else "",
        until=clock.said(case.lease_until, "%H:%M") if holder else "",
        mine=holder == batch.by_id,
        escalated=case.escalated_to if case.escalated_by_id else "",
        asks=case.state == CaseState.WAITING and not case.snoozed_until,
        handed=case.handed_to_id is not None,
        **more,
    )


def line(batch: Batch, item: Any, effects: list[tuple[uuid.UUID, bool, bool]], now: dt.datetime) -> Line:
    case = item.case
    stuck = [(effect_id, can) for effect_id, can, is_stuck in effects if is_stuck]
    lookable = tuple(effect_id for effect_id, can in stuck if can)
    facts = facts_of(batch, item, now, stuck=len(stuck), lookable=len(lookable))
    codes = {str(reason.get("code")) for reason in case.reasons if isinstance(reason, dict)}
    looking = len(stuck) < len(effects)
    told = came_of(batch.act, case.state, codes, looking=looking) if item.state == ItemState.DONE else ""
    return Line(item=item, prospect=prospect(batch.act, facts), came=told, lookable=lookable)


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
