"""What would be sent, made in memory from rows just read: for previews of people's acts. Nothing is sent or written."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from workflows import making
from workflows.engine.parts.forward import gate_opens, generation_of
from workflows.engine.parts.turning import next_round
from workflows.models import Effect, Run, Step
from workflows.policies.unwinding import UNDER_WAY, course_of
from workflows.states import EffectState, Phase, StepState
from workflows.toolbox import tool_of
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.draft import Draft
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.keeping import sentence

TICK = dt.timedelta(seconds=1)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """`effect`: as it would be sent, in memory. `timed`: the requests tell the time, so that of the send differs."""

    effect: Effect
    drafts: list[Draft]
    timed: bool


def send(effect: Effect, steps: Iterable[Step], at: dt.datetime) -> Planned:
    """Its next send. `run`, `tool`, `compensates` must be at hand; the effect need not be stored."""
    steps = list(steps)
    drafts, later = (_drafts(effect, steps, now, lambda tool, call: tool.draft(call)) for now in (at, at + TICK))
    return Planned(effect=effect, drafts=drafts, timed=drafts != later)


def look(effect: Effect, steps: Iterable[Step], at: dt.datetime) -> Planned:
    """Its next look, which only reads."""
    drafts = _drafts(effect, steps, at, lambda tool, call: tool.draft_look(call))
    return Planned(effect=effect, drafts=drafts, timed=False)


def _drafts(
    effect: Effect, steps: Iterable[Step], at: dt.datetime, told: Callable[[Tool, Call], list[Draft]]
) -> list[Draft]:
    """A tool that is gone, or whose code breaks, keeps nobody from the page that says so."""
    try:
        return told(tool_of(effect.tool), making.call_for(effect, effect.run, steps, now=at))
    except Exception as error:
        line = f"{effect.tool.name}, {effect.operation}"
        return [Draft(line=line, flaw=f"its tool can't say it: {type(error).__name__}: {sentence(str(error))}")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Onward:
    """What the engine does by itself from here, if all goes well. `sends`: undoings made anew, in order; `goes_on`:
    what waits already, or is begun later, and is sent when its turn comes; `under_way`: what runs to its answer first;
    `never`: what isn't sent any more."""

    sends: Sequence[Planned] = ()
    goes_on: Sequence[Named] = ()
    under_way: Sequence[Named] = ()
    never: Sequence[Named] = ()


Named = tuple[str, bool]  # a step, and whether it is its undoing
WAITING = {EffectState.BLOCKED, EffectState.READY}


def onward(run: Run, steps: Sequence[Step], effects: Sequence[Effect], at: dt.datetime) -> Onward:
    """What something stuck holds back isn't among what is undone."""
    by_id = {step.id: step for step in steps}
    pending = [(step.name, False) for step in steps if step.state == StepState.PENDING]
    waiting = [effect for effect in effects if effect.state in WAITING]
    under_way = [_named(effect, by_id) for effect in effects if effect.state in UNDER_WAY]
    if run.phase in (Phase.OPEN, Phase.RUNNING):
        return Onward(goes_on=[*(_named(e, by_id) for e in waiting), *pending], under_way=under_way)
    rounds = {effect.id: [e.generation for e in effects if e.compensates_id == effect.id] for effect in effects}
    course = course_of(run, list(steps), list(effects), ahead=True)
    off = {effect.id for effect in (*course.cancel, *course.doubtful)}
    return Onward(
        sends=[_undoing(of, run, by_id[of.step_id], steps, next_round(rounds[of.id]), at) for of in course.compensate],
        goes_on=[_named(effect, by_id) for effect in waiting if effect.id not in off],
        under_way=under_way,
        never=[*(_named(effect, by_id) for effect in waiting if effect.id in off), *pending],
    )


def _named(effect: Effect, steps: Mapping[uuid.UUID, Step]) -> Named:
    return steps[effect.step_id].name, effect.compensates_id is not None


def beginnings(run: Run, steps: Sequence[Step], effects: Sequence[Effect], at: dt.datetime) -> list[Planned]:
    """The requests of steps that can begin now in a run that goes forward; those at a gate that opens only later, and
    those of steps after them, are made when their turn comes."""
    over = {step.name for step in steps if step.state in (StepState.DONE, StepState.SKIPPED)}
    can = [step for step in steps if step.state == StepState.PENDING and over.issuperset(step.after)]
    made = [_beginning(run, step, steps, effects, at) for step in can]
    return [planned for planned in made if planned is not None]


def _beginning(
    run: Run, step: Step, steps: Sequence[Step], effects: Sequence[Effect], at: dt.datetime
) -> Planned | None:
    begun = twin(step)
    generation = generation_of(step, effects)
    try:
        arguments = step.arguments
        if arguments is None:
            arguments = fill(step.template, making.names_of(run, steps))
        begun.arguments = arguments
        effect = making.forward(run, begun, steps, at, generation=generation)
    except ExpressionError:
        return None  # its step fails as it is begun; nothing of it is sent
    gated = effect.effect_class in ("irreversible", "bufferable")
    if tool_of(step.tool).check(arguments) or (gated and not gate_opens(effect, step, run, list(steps), effects)):
        return None
    return send(effect, steps, at)


Row = TypeVar("Row", Run, Step)


def twin(row: Row) -> Row:
    """The same row in memory once more: what is done to it leaves the other as it is."""
    other = type(row).__new__(type(row))
    other.__dict__.update(row.__dict__)
    return other


def _undoing(of: Effect, run: Run, step: Step, steps: Sequence[Step], generation: int, at: dt.datetime) -> Planned:
    try:
        effect = making.compensation(of, run, step, steps, at, generation=generation)
    except ExpressionError as error:
        effect = making.bare_compensation(of, run, step, at, generation=generation)
        return _unmade(effect, str(error))
    if making.lacks_result(of, step):
        return _unmade(effect, "undoing it needs what its answer would have told, and no answer was ever seen")
    return send(effect, steps, at)


def _unmade(effect: Effect, flaw: str) -> Planned:
    return Planned(effect=effect, drafts=[Draft(line=f"{effect.tool.name}, compensate", flaw=flaw)], timed=False)
