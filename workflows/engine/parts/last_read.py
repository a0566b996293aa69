"""Whether calls may begin that were let go a moment ago: what they build upon may have moved since. For `call` only."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from workflows import making, rows
from workflows.engine.parts import forerunners, names
from workflows.fetch import fetch
from workflows.models import Effect, Step
from workflows.models.step import SUPERSEDED
from workflows.tools.call import Call


def outdated(going: Sequence[tuple[Effect, Call]]) -> set[uuid.UUID]:
    """Of calls in runs that moved since their dispatch: those that speak of what is called otherwise by now, or build
    upon what needs a person. Results are those of effects, as steps follow only when the run is read. Two statements,
    if there are any."""
    if not going:
        return set()
    ids = rows.ids({effect.run_id for effect, _ in going})
    steps: dict[uuid.UUID, list[Step]] = defaultdict(list)
    for step in fetch(Step, "WHERE t.run_id = ANY (%s::uuid[]) ORDER BY t.ordinal", [ids]):
        steps[step.run_id].append(step)
    effects: dict[uuid.UUID, list[Effect]] = defaultdict(list)
    for effect in fetch(Effect, "WHERE t.run_id = ANY (%s::uuid[]) ORDER BY t.id", [ids]):
        effects[effect.run_id].append(effect)
    return {effect.id for effect, call in going if _one(effect, call, steps[effect.run_id], effects[effect.run_id])}


def _one(effect: Effect, call: Call, steps: list[Step], effects: list[Effect]) -> bool:
    step = next(step for step in steps if step.id == effect.step_id)
    if step.name in forerunners.behind(steps, forerunners.uncertain(steps, effects)):
        return True
    found = [e for e in names.by_generation(effects) if e.settled and e.reason not in SUPERSEDED]
    settled: dict[uuid.UUID, Any] = {e.step_id: e.result or {} for e in found}
    results = making.results_of(steps)
    results |= {s.name: {"result": settled[s.id]} for s in steps if s.id in settled and s.name in results}
    itself = names.STEPS in str(effect.tool.spec)
    if itself and any(results.get(name) != known for name, known in call.steps.items()):
        return True
    return names.outdated(step, effect.arguments, {**making.names_of(effect.run, steps), "steps": results})
