"""What an effect was recorded with, against what things are called by now. For `advance`, `dispatch` and `call`.

A step's result is what its thing is called. A person may say another name later, or a look show one; what speaks of the
old one by then, and has not left, doesn't leave: it is begun anew (docs/decisions/0103).
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection

from workflows import making, rows
from workflows.engine.parts.asked_first import look_first
from workflows.fetch import fetch
from workflows.models import Effect, Run, Step
from workflows.models.step import RENAMED, SUPERSEDED
from workflows.states import EffectState, StepState
from workflows.tools.call import Call
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
        return bool(json.loads(rows.encode(fill(step.template, names))) != arguments)
    except ExpressionError:
        return True


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


def outdated_now(going: Sequence[tuple[Effect, Call]]) -> set[uuid.UUID]:
    """Of calls that are about to begin, in runs that moved since their dispatch. Two statements, if there are any."""
    if not going:
        return set()
    ids = rows.ids({effect.run_id for effect, _ in going})
    steps: dict[uuid.UUID, list[Step]] = defaultdict(list)
    for step in fetch(Step, "WHERE t.run_id = ANY (%s::uuid[]) ORDER BY t.ordinal", [ids]):
        steps[step.run_id].append(step)
    settled: dict[uuid.UUID, Any] = {}
    for effect in by_generation(fetch(Effect, "WHERE t.run_id = ANY (%s::uuid[]) ORDER BY t.id", [ids])):
        if effect.settled and effect.reason not in SUPERSEDED:
            settled[effect.step_id] = effect.result or {}
    found = set()
    for effect, call in going:
        own = steps[effect.run_id]
        step = next(step for step in own if step.id == effect.step_id)
        results = making.results_of(own)
        results |= {s.name: {"result": settled[s.id]} for s in own if s.id in settled and s.name in results}
        names = {**making.names_of(effect.run, own), "steps": results}
        itself = STEPS in str(effect.tool.spec) and any(
            results.get(name) != known for name, known in call.steps.items()
        )
        if itself or outdated(step, effect.arguments, names):
            found.add(effect.id)
    return found
