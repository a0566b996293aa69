"""The way forward of one run, in memory: steps follow their effects, the next begin, gates open. For `advance` only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from workflows import making, origins
from workflows.engine.parts import forerunners, fresh, names
from workflows.errors import shown
from workflows.models import Effect, Run, Step
from workflows.models.step import ANEW, SUPERSEDED, TWIN
from workflows.policies import order
from workflows.policies.spending import for_a_person
from workflows.policies.unwinding import asked_by_person, looked_at_again, whose
from workflows.states import EffectState, Phase, StepState, World
from workflows.toolbox import tool_of
from workflows.tools.expressions import ExpressionError, fill

if TYPE_CHECKING:
    from workflows.engine.advance import Changes

S = EffectState
PASSED_OVER = ("stopping", "skipped")  # the run turned back before it left; a person goes on without it


def follow(steps: list[Step], effects: list[Effect], changes: Changes) -> list[dict[str, str]]:
    """Brings steps to where their forward effects, or remedies, are; returns what moved, for the run's entry."""
    _call_off_twins(effects, changes)
    by_step = {e.step_id.int: e for e in effects if not e.compensates_id and e.reason not in SUPERSEDED}
    moved = []
    for step in steps:
        effect = by_step.get(step.id.int)
        if effect is None or not (
            step.state == StepState.ACTIVE or (step.state == StepState.DONE and _moved(step, effect))
        ):
            continue
        if _follow_one(step, effect):
            moved.append({"step": step.name, "to": step.state})
            changes.steps.append(step)
    return moved


def _call_off_twins(effects: list[Effect], changes: Changes) -> None:
    """Of a step that was begun anew: what it did before turned up, or may, so its next act doesn't leave any more."""
    anew = [e for e in effects if e.generation and e.forward and e.state in (S.BLOCKED, S.READY) and not e.doubt]
    for effect in anew:
        others = [e for e in effects if e.step_id == effect.step_id and e.forward and e is not effect]
        if any(e.state == S.STUCK or e.world != World.NOTHING for e in others):
            effect.cancel(reason=TWIN, detail="what its step did before is there after all, or may be")
            changes.effects.append(effect)


def _moved(step: Step, effect: Effect) -> bool:
    """All that a step that is done can still follow: it was undone, is called something else by now, or a person says
    that it isn't there, or leaves what became of it."""
    renamed = effect.settled and step.result != (effect.result or {})
    return renamed or effect.state == S.UNDONE or (not effect.remedy and _came_to_nothing(effect))


def _came_to_nothing(effect: Effect) -> bool:
    left = effect.state == S.CANCELLED and effect.reason not in PASSED_OVER
    return left or effect.state in (S.FAILED, S.WRITTEN_OFF)


def _follow_one(step: Step, effect: Effect) -> bool:
    active = step.state == StepState.ACTIVE
    if effect.settled and active:
        step.finish(result=effect.result or {})
    elif effect.remedy and effect.at_rest and active:
        step.skip(reason=effect.reason)  # the run went wrong, or didn't, without it: no step fails by it
    elif _came_to_nothing(effect):
        step.fail(reason=effect.reason, detail=effect.detail)
    elif effect.state == S.CANCELLED and active:
        step.skip(reason=effect.reason)
    elif effect.state == S.UNDONE:
        step.undo()
    elif effect.settled:
        step.result = effect.result or {}
        return True
    return bool(step.event)


def go_on(run: Run, steps: list[Step], effects: list[Effect], changes: Changes) -> list[dict[str, Any]]:
    """Turns back on failure or deadline; begins what can begin; ends. Returns the reasons for a person."""
    if _stopped(run, steps, effects, changes.now):
        return _people(steps, effects)
    changes.effects += names.renew(run, steps, effects, changes.now)
    waits = forerunners.behind(steps, forerunners.uncertain(steps, effects))
    changes.effects += forerunners.hold_back(steps, effects, waits, changes.now)
    _begin_steps(run, steps, effects, waits, changes)
    if failed := [s for s in steps if s.state == StepState.FAILED]:
        _fail(run, failed[0])
        return []
    _open_gates(run, steps, effects, changes)
    went = all(s.state in (StepState.DONE, StepState.SKIPPED) for s in steps)
    if run.sealed and not changes.born[run.id] and went and not any(e.state == S.STUCK for e in effects):
        run.end()
    return _people(steps, effects)


def _people(steps: list[Step], effects: list[Effect]) -> list[dict[str, Any]]:
    people = [e for e in effects if e.state == S.STUCK or looked_at_again(e) or for_a_person(e) or asked_by_person(e)]
    names = {step.id: step for step in steps} if people else {}
    return [whose(e, names[e.step_id]) for e in people]


def _stopped(run: Run, steps: list[Step], effects: list[Effect], now: dt.datetime) -> bool:
    if failed := [s for s in steps if s.state == StepState.FAILED]:
        _fail(run, failed[0])
        return True
    if run.deadline is None or now < run.deadline:
        return False
    idle = not any(e.open for e in effects if not e.remedy) and all(s.state != StepState.PENDING for s in steps)
    if run.phase == Phase.OPEN and idle:
        run.seal()
        run.payload = {"reason": "idle past its deadline"}
        run.advance_at = now
        return True
    if idle:
        return False  # nothing is left that could be late: it ends as what it is
    run.unwind(ending=run.workflow.spec["on_failure"], cause="deadline", reason="the run's deadline is past")
    return True


def _fail(run: Run, step: Step) -> None:
    reason = f"step {step.name} failed: {step.detail or step.reason}"
    run.unwind(ending=run.workflow.spec["on_failure"], cause="step", reason=reason)


def _begin_steps(run: Run, steps: list[Step], effects: list[Effect], waits: Collection[str], changes: Changes) -> None:
    states = {step.name: step.state for step in steps}
    for step in steps:
        if step.state != StepState.PENDING or step.name in waits:
            continue
        if all(states[name] in (StepState.DONE, StepState.SKIPPED) for name in step.after):
            _begin(run, step, steps, [*effects, *changes.born[run.id]], changes)


def _begin(run: Run, step: Step, steps: list[Step], earlier: list[Effect], changes: Changes) -> None:
    changes.steps.append(step)
    try:
        arguments = step.arguments
        if arguments is None:
            arguments = fill(step.template, making.names_of(run, steps))
        if flaws := tool_of(step.tool).check(arguments):
            step.fail(reason="bad_arguments", detail="; ".join(str(flaw) for flaw in flaws))
            return
        generation = generation_of(step, earlier)
        step.begin(arguments=arguments)
        effect = making.forward(run, step, steps, changes.now, generation=generation)
        origins.count(effect, earlier)
        effect.reads = None if effect.read_only else fresh.recorded(step, steps, earlier)
    except ExpressionError as trouble:
        step.event = ""
        step.fail(reason="bad_arguments", detail=shown(str(trouble), 500))
        return
    _place(run, step, effect)
    changes.create(effect)


def generation_of(step: Step, effects: Iterable[Effect]) -> int:
    """Of its next effect: no key is used for a second one, whatever became of the first."""
    if step.reason != ANEW:
        return 0
    return 1 + max((e.generation for e in effects if e.step_id == step.id and e.forward), default=-1)


def _place(run: Run, step: Step, effect: Effect) -> None:
    """Where a new effect begins: ready, or blocked at the gate, or its world is asked first. In memory, before it is
    written: `create` is its first entry."""
    if effect.effect_class in ("irreversible", "bufferable"):
        _starts_blocked(effect, "gate", [{"gate": effect.effect_class}], None)
    else:
        ask_world_first(step, effect)


def ask_world_first(step: Step, effect: Effect) -> None:
    """Where a natural key tells whether it is there already. In memory, before it is written."""
    times = tool_of(step.tool).timings("execute")
    if times.natural and times.can_look and making.may_look(effect):
        _starts_blocked(effect, "dependency", [{"look": "the world is asked first"}], effect.due_at)


def _starts_blocked(effect: Effect, reason: str, by: list[Any], due: dt.datetime | None) -> None:
    effect.block(reason=reason, blocked_by=by, due_at=due)
    effect.event, effect.was_state = "", effect.state


def _open_gates(run: Run, steps: list[Step], effects: list[Effect], changes: Changes) -> None:
    created = changes.born[run.id]
    waiting = [e for e in [*effects, *created] if e.state == S.BLOCKED and e.reason == "gate"]
    if not waiting:
        return
    for effect in waiting:
        step = next(s for s in steps if s.id == effect.step_id)
        if not gate_opens(effect, step, run, steps, [*effects, *created]):
            continue
        natural = tool_of(step.tool).timings("execute").natural and tool_of(step.tool).has("verify")
        if natural and not effect.asked and making.may_look(effect):
            effect.reason, effect.due_at = "dependency", changes.now
            effect.blocked_by = [{"look": "the world is asked first"}]
            effect.note()
        else:
            effect.release(due_at=changes.now)
        if effect in created:
            effect.event, effect.was_state = "", effect.state
        else:
            changes.effects.append(effect)


def gate_opens(effect: Effect, step: Step, run: Run, steps: list[Step], effects: Iterable[Effect]) -> bool:
    by_name = {step.name: step for step in steps}
    by_step = {e.step_id: e for e in effects if e.forward}
    waits = [name for name in order.before(step, steps) if not _past(by_name[name], by_step)]
    return not waits and (effect.effect_class != "bufferable" or run.sealed)


def _past(step: Step, by_step: dict[Any, Effect]) -> bool:
    effect = by_step.get(step.id)
    if step.state in (StepState.DONE, StepState.SKIPPED):
        return effect is None or effect.state != S.STUCK
    return effect is not None and effect.settled
