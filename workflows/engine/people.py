"""What a person's act says of what is stuck. Each is one verb, journaled with who and why."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction
from django.db.models import Q

from workflows import ledger, making, rows
from workflows.engine.parts.stuck import saved, stuck
from workflows.errors import Invalid, NotFound
from workflows.models import Attempt, Effect, Run
from workflows.policies.after_look import REVERSED
from workflows.policies.unwinding import UNDO_AGAIN
from workflows.states import EffectState, Phase, World
from workflows.toolbox import tool_of


def look_again(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """A stuck effect is unknown again and looked at from now on. Reads only. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "looked at again")
        times = tool_of(effect.tool).timings(effect.operation)
        if not times.verifies:
            raise Invalid(f"{effect.tool} declares no look; nobody can look at what it did")
        if not making.may_look(effect):
            raise Invalid("its agent has no right to verify with this tool, so nothing looks at what it did")
        now = rows.now()
        effect.look_again(now=now, until=now + dt.timedelta(seconds=times.within))
        return saved(effect, now, by, why)


def undo_rest(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """An undoing that found less than the whole left is sent for exactly that. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "undone for the rest")
        last = Attempt.objects.filter(effect=effect).order_by("-id").first()
        left = last.evidence.get("remaining") if last else None
        if effect.reason != "less_remains" or left is None:
            raise Invalid(f"the effect is stuck for another reason ({effect.reason}); nothing says what is left of it")
        now = rows.now()
        effect.before = {"agreed": left}
        effect.try_again(due_at=now)
        return saved(effect, now, by, f"{why} ({left} are left)")


def undo_again(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """What was undone and is there again is undone once more, under a new key. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run_id = Effect.objects.filter(id=effect_id).values_list("run_id", flat=True).first()
        if run_id is None:
            raise NotFound(f"there is no effect {effect_id}")
        ledger.wake_runs([run_id])
        effects = Effect.objects.filter(Q(id=effect_id) | Q(compensates=effect_id)).order_by("id")
        found = {e.id: e for e in effects.select_related("tool").select_for_update(of=("self",))}
        effect = found.pop(effect_id)
        undoing = next((e for e in found.values() if e.state != EffectState.CANCELLED), None)
        if effect.world != World.PRESENT or effect.state not in (EffectState.VERIFIED, EffectState.STUCK):
            raise Invalid(f"the effect is {effect.state}, its world {effect.world}; look first whether it is there")
        if undoing is None or not (undoing.settled or (undoing.state, undoing.reason) == ("stuck", REVERSED)):
            raise Invalid("its undoing isn't over; only what was undone and is there again is undone once more")
        now = rows.now()
        if undoing.settled:
            undoing.stick(reason=REVERSED, detail="what it undid is there again", world="nothing")
            saved(undoing, now, by, why)
        undoing.clear(reason="superseded", detail="undone once more, by another request")
        saved(undoing, now, by, why)
        if effect.state == EffectState.STUCK:
            effect.reason, effect.detail = UNDO_AGAIN, why
            effect.note()
            saved(effect, now, by, why)
        run = Run.objects.select_for_update(of=("self",)).select_related("workflow").get(id=run_id)
        run.repaired = True
        _decide(run, "compensate", now, by, why)
        return effect


def write_off(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """A stuck effect is left as it is: what it left stays stated as residue. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "written off")
        effect.write_off(detail=why)
        return saved(effect, rows.now(), by, why)


def write_off_run(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """Everything that stands is left as it is, and the run ends. What is under way runs to its answer first."""
    with transaction.atomic():
        run = _turning(run_id)
        now = rows.now()
        left = list(Effect.objects.filter(run=run, state=EffectState.STUCK.value).order_by("id").select_for_update())
        for effect in left:
            effect.write_off(detail=why)
        ledger.save_effects(left, now=now, actor=by)
        return _decide(run, "written_off", now, by, why)


def compensate_run(run_id: uuid.UUID, *, by: str, why: str) -> Run:
    """A run that is held turns back after all; irreversible acts are accepted as residue. Raises `Invalid`."""
    with transaction.atomic():
        run = _turning(run_id)
        run.repaired = True
        return _decide(run, "compensate", rows.now(), by, why)


def _decide(run: Run, ending: str, now: dt.datetime, by: str, why: str) -> Run:
    run.ending, run.end_cause = ending, "person"
    run.event = "decide"
    run.payload = {"ending": ending, "why": why}
    run.advance_at = now
    ledger.save_runs([run], now=now, actor=by)
    return run


def _turning(run_id: uuid.UUID) -> Run:
    run = Run.objects.filter(id=run_id).select_for_update(of=("self",)).select_related("workflow").first()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    if run.phase != Phase.UNWINDING:
        raise Invalid(f"run {run.id} is {run.state}; only a run that turns back can be decided so")
    return run
