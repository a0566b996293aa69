"""Takes one stuck effect in hand and writes what a person's act made of it. For the verbs people and findings."""

from __future__ import annotations

import datetime as dt
import uuid

from workflows import ledger
from workflows.errors import Invalid, NotFound
from workflows.models import Effect, Run
from workflows.states import EffectState


def stuck(effect_id: uuid.UUID, act: str) -> Effect:
    """Locks the run, then the effect: the order everybody keeps."""
    run_id = Effect.objects.filter(id=effect_id).values_list("run_id", flat=True).first()
    if run_id is None:
        raise NotFound(f"there is no effect {effect_id}")
    ledger.wake_runs([run_id])
    effect = Effect.objects.select_related("tool").select_for_update(of=("self",)).get(id=effect_id)
    if effect.state != EffectState.STUCK:
        raise Invalid(f"the effect is {effect.state} by now; only a stuck one can be {act}")
    return effect


def saved(effect: Effect, now: dt.datetime, by: str, why: str) -> Effect:
    effect.payload = {"why": why}
    ledger.save_effects([effect], now=now, actor=by)
    return effect


def repaired(effect: Effect, now: dt.datetime, by: str) -> None:
    """The run was not made good by the engine alone, and says so for ever."""
    run = Run.objects.select_for_update(of=("self",)).get(id=effect.run_id)
    if not run.repaired:
        run.repaired = True
        run.event, run.payload = "note", {"repaired": True}
        run.advance_at = now
        ledger.save_runs([run], now=now, actor=by)
