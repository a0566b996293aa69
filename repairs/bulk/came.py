"""What came of an act that sends, by what the effects that it was about and their undoings are now."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from repairs.models import BatchItem
from repairs.models.batch import BatchAct
from repairs.words.batch import CameFacts, came_of_sending
from workflows.models import Effect
from workflows.states import EffectState, Kind


def came(act: str, items: Iterable[BatchItem], now: dt.datetime) -> dict[Any, str]:
    """By item. One statement, however many they are."""
    items = list(items)
    effects: dict[Any, list[Effect]] = defaultdict(list)
    of_runs = Effect.objects.filter(run__in=[item.case.run_id for item in items]).order_by("id")
    columns = ("id", "run_id", "kind", "state", "reason", "verifiable", "compensates_id", "generation", "fence", "seq")
    for effect in of_runs.only(*columns) if items else ():
        effects[effect.run_id].append(effect)
    return {item.id: came_of_sending(facts_of(act, item, effects[item.case.run_id], now)) for item in items}


def facts_of(act: str, item: BatchItem, effects: list[Effect], now: dt.datetime) -> CameFacts:
    case = item.case
    meant = touched(act, item, effects)
    return CameFacts(
        live=case.live,
        turning=case.live and (not case.run.needs_person or (case.run.advance_at or now) < now),
        states=tuple((effect.state, effect.reason) for effect in meant),
        undoing=act != BatchAct.TRY_AGAIN or any(effect.kind == Kind.COMPENSATION for effect in meant),
    )


def touched(act: str, item: BatchItem, effects: list[Effect]) -> list[Effect]:
    undoings = [e for e in effects if e.kind == Kind.COMPENSATION and e.state != EffectState.CANCELLED]
    match BatchAct(act):
        case BatchAct.TRY_AGAIN:
            return [effect for effect in effects if effect.id == item.effect_id]
        case BatchAct.UNDO_AGAIN:
            return [effect for effect in undoings if effect.compensates_id == item.effect_id]
        case _:
            return undoings
