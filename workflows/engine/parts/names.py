"""What an effect was recorded with, against what things are called by now. For `advance` and `dispatch`.

A step's result is what its thing is called. A person may say another name later, or a look show one; what speaks of the
old one by then, and has not left, doesn't leave: it is begun anew (docs/decisions/0103).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import connection

from workflows import making, rows
from workflows.engine.parts.asked_first import look_first
from workflows.models import Effect, Run, Step
from workflows.models.step import RENAMED
from workflows.states import EffectState, StepState
from workflows.tools.expressions import ExpressionError, fill

S = EffectState
STEPS = "steps"  # as an expression names them
OVER = (StepState.DONE, StepState.SKIPPED)


def renew(run: Run, steps: Sequence[Step], effects: Sequence[Effect], now: dt.datetime) -> list[Effect]:
    """In memory: what waits and speaks of what is called otherwise by now is called off, and its step waits to be begun
    anew; of what may have been sent already only a look says more, or a person. Returns the effects that moved."""
    waiting = [e for e in effects if e.forward and e.state in (S.BLOCKED, S.READY)]
    if not waiting:
        return []
    by_id, newest = {step.id: step for step in steps}, {e.step_id: e for e in by_generation(effects)}
    states = {step.name: step.state for step in steps}
    names = making.names_of(run, steps)
    moved = []
    for effect in waiting:
        step = by_id[effect.step_id]
        begun = step.state == StepState.ACTIVE and all(states[name] in OVER for name in step.after)
        if not begun or not outdated(step, effect.arguments, names):
            continue
        if effect.doubt:
            moved += _find_out(effect, now)
            continue
        effect.cancel(reason=RENAMED, detail="what it speaks of is called otherwise by now; its step is begun anew")
        moved.append(effect)
        if newest[effect.step_id] is effect:
            step.renew()
            step.event = ""  # it is begun in the same pass, which is what is written
    return moved


def by_generation(effects: Iterable[Effect]) -> list[Effect]:
    """The effects of steps, each step's newest last, whatever the clock said when they were made."""
    return sorted((e for e in effects if e.forward), key=lambda e: e.generation)


def outdated(step: Step, arguments: Any, names: Mapping[str, Any]) -> bool:
    """Whether the step would be begun with other arguments now. What can't be made now is no better."""
    if STEPS not in str(step.template):
        return False
    try:
        return bool(_as_kept(fill(step.template, names)) != _as_kept(arguments))
    except ExpressionError:
        return True


def _as_kept(value: Any) -> Any:
    """With numbers as the database keeps them, whatever their type: 1e30 comes back with all its digits."""
    return json.loads(rows.encode(value), parse_int=Decimal, parse_float=Decimal)


def _find_out(effect: Effect, now: dt.datetime) -> list[Effect]:
    """An earlier send of it may have taken effect; no other follows under the old name."""
    if not effect.verifiable:
        detail = "it may have been sent with a name that is no more, nobody can look, and it isn't sent so again"
        effect.stick(reason="cannot_know", detail=detail, world="unknown")
    elif effect.reason != "dependency":  # else it is looked at already
        look_first(effect, "an earlier send, with another name, may still take effect", now)
    else:
        return []
    return [effect]


def told(effects: Sequence[Effect]) -> list[Effect]:
    """Without forward effects of runs of which something moved that `advance` has not read yet: it may be a name. They
    stay ready. The caller holds the runs. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(WOKEN, [rows.ids({e.run_id for e in effects})])
        woken = {row[0] for row in cursor.fetchall()}
    return [effect for effect in effects if not (effect.forward and effect.run_id in woken)] if woken else list(effects)


WOKEN = "SELECT run_id FROM workflows_wake WHERE run_id = ANY (%s::uuid[])"
