"""What depends on something of its run that was done, and is a person's now, waits until they have settled it: what it
builds upon may be gone. For `advance` only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence

from workflows.engine.parts.names import by_generation
from workflows.models import Effect, Step
from workflows.models.step import SUPERSEDED
from workflows.policies import order
from workflows.states import EffectState, StepState

S = EffectState
STEP = "step"  # names in `blocked_by` what is waited for


def uncertain(steps: Iterable[Step], effects: Iterable[Effect]) -> set[str]:
    """Steps that were done, and whose effect is stuck now."""
    newest = {e.step_id: e for e in by_generation(effects) if e.reason not in SUPERSEDED}
    done = [step for step in steps if step.state == StepState.DONE and step.id in newest]
    return {step.name for step in done if newest[step.id].state == S.STUCK}


def behind(steps: Sequence[Step], names: Collection[str]) -> dict[str, list[str]]:
    """By step: which of these it depends on, directly or not."""
    above = order.ancestors(steps) if names else {}
    return {name: found for name, of in above.items() if (found := sorted(of.intersection(names)))}


def hold_back(
    steps: Sequence[Step], effects: Sequence[Effect], waits: dict[str, list[str]], now: dt.datetime
) -> list[Effect]:
    """In memory: those that have not left wait, those that needn't any more go on. Returns the effects that moved. What
    stands at its gate waits there."""
    by_id = {step.id: step for step in steps}
    moved = []
    for effect in effects:
        if effect.event or not effect.forward or effect.state not in (S.BLOCKED, S.READY) or effect.reason == "gate":
            continue
        whom = waits.get(by_id[effect.step_id].name, [])
        if whom and not held(effect):
            moved += _wait(effect, whom)
        elif held(effect) and not whom:
            effect.release(due_at=now)
            moved.append(effect)
    return moved


def held(effect: Effect) -> bool:
    """Behind a step of its run; nothing but that step's end lets it go."""
    return effect.state == S.BLOCKED and any(STEP in by for by in effect.blocked_by)


def _wait(effect: Effect, whom: list[str]) -> list[Effect]:
    if effect.reason == "dependency":
        return []  # it is looked at, and comes by again after that
    by = [{STEP: name} for name in whom]
    if effect.state == S.READY:
        effect.block(reason="dependency", blocked_by=by)
    else:
        effect.reason, effect.blocked_by, effect.due_at = "dependency", by, None
        effect.note()
    return [effect]
