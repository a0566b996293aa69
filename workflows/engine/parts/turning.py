"""The way back of one run, in memory: what has not left is cancelled, what stands is undone. For `advance` only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows import making
from workflows.errors import Invalid
from workflows.models import Effect, Run, Step, Tool
from workflows.policies.after_look import REVERSED
from workflows.policies.unwinding import course_of, reason_of
from workflows.states import A_ROUND, EffectState, StepState
from workflows.tools.expressions import ExpressionError

if TYPE_CHECKING:
    from workflows.engine.advance import Changes


def turn_back(run: Run, steps: list[Step], effects: list[Effect], changes: Changes) -> list[dict[str, Any]]:
    """Returns the reasons for a person."""
    course = course_of(run, steps, effects)
    for effect in course.cancel:
        effect.cancel(reason="stopping", detail=run.end_reason)
        changes.effects.append(effect)
    for effect in course.doubtful:
        _resolve(effect, changes)
    for effect, seen_gone in course.undone:
        effect.undo(seen_gone=seen_gone)
        changes.effects.append(effect)
    for effect in course.reversed:
        detail = "it was undone, which a look showed, and it is there again"
        effect.stick(reason=REVERSED, detail=detail, world="present")
        changes.effects.append(effect)
    names = {step.id: step for step in steps}
    for effect in course.compensate:
        generation = next_round([e.generation for e in effects if e.compensates_id == effect.id])
        changes.create(_compensation(effect, run, names[effect.step_id], steps, changes, generation))
    for of, refused, name in course.fall_back:
        _fall_back(of, refused, name, run, names[of.step_id], steps, changes)
    if course.cancel or course.doubtful or course.undone or course.fall_back or course.reversed:
        _once_more(run, changes)
    run.waits_until = _sentinel(effects, changes)
    if course.over and run.event:
        _once_more(run, changes)
    elif course.over:
        _skip(steps, changes)
        run.end()
    return [*course.people, *_born_stuck(changes, run, names)]


def next_round(generations: list[int]) -> int:
    """A key is never used for a second undoing, whatever became of the first."""
    return (max(generations) // A_ROUND + 1) * A_ROUND if generations else 0


def _compensation(of: Effect, run: Run, step: Step, steps: list[Step], changes: Changes, generation: int) -> Effect:
    trouble = ""
    try:
        effect = making.compensation(of, run, step, steps, changes.now, generation=generation)
    except ExpressionError as error:
        trouble = str(error)
        effect = making.bare_compensation(of, run, step, changes.now, generation=generation)
    if trouble or making.lacks_result(of, step):
        detail = trouble or "undoing it needs what its answer would have told, and no answer was ever seen"
        effect.stick(reason="no_result", detail=detail, world="nothing")
        effect.event, effect.was_state = "", effect.state
    return effect


def _fall_back(
    of: Effect, refused: Effect, name: str, run: Run, step: Step, steps: list[Step], changes: Changes
) -> None:
    """Lays the refused undoing to rest and tries the next one; where that can't be made, it stays with a person."""
    tool = Tool.objects.filter(name=name, current=True).first()
    try:
        if tool is None:
            raise Invalid(f"there is no tool {name} any more")
        effect = making.fallback(of, refused, tool, run, step, steps, changes.now)
    except (Invalid, ExpressionError) as trouble:
        refused.reason, refused.detail = "no_result", f"{refused.detail}; its fallback {name} can't be tried: {trouble}"
        refused.note()
    else:
        refused.clear(reason="fallback", detail=f"{refused.detail}; {name} is tried instead")
        changes.create(effect)
    changes.effects.append(refused)


def _born_stuck(changes: Changes, run: Run, names: dict[Any, Step]) -> list[dict[str, Any]]:
    stuck = [e for e in changes.born[run.id] if e.state == EffectState.STUCK]
    return [reason_of(e, names[e.step_id]) for e in stuck]


def _resolve(effect: Effect, changes: Changes) -> None:
    """An earlier send may have taken effect, or may still; no other follows. It is looked at until that is final."""
    by = [{"look": "an earlier send may still take effect"}]
    if not effect.verifiable:
        detail = "the run turned back before the same key could be sent again"
        effect.stick(reason="cannot_know", detail=detail, world="unknown")
    elif effect.state == EffectState.READY:
        effect.block(reason="dependency", blocked_by=by, due_at=changes.now)
    else:
        effect.reason, effect.blocked_by, effect.due_at = "dependency", by, changes.now
        effect.note()
    changes.effects.append(effect)


def _once_more(run: Run, changes: Changes) -> None:
    """What these moves free is found by another pass, which begins right away."""
    run.waits_until = None
    run.advance_at = changes.now


def _sentinel(effects: list[Effect], changes: Changes) -> Any:
    """Until when an undoing that found nothing is watched; None where nothing is."""
    times = [e.late_until for e in effects if e.forward and e.doubt and e.late_until and not e.at_rest]
    return max((t for t in times if t > changes.now), default=None)


def _skip(steps: list[Step], changes: Changes) -> None:
    for step in steps:
        if step.state in (StepState.PENDING, StepState.ACTIVE):
            step.skip(reason="stopping")
            changes.steps.append(step)
