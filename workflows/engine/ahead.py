"""What would be sent, made in memory from rows just read: for previews of people's acts. Nothing is sent or written."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Sequence

from workflows import making
from workflows.engine.parts.turning import next_round
from workflows.models import Effect, Run, Step
from workflows.policies.unwinding import course_of
from workflows.toolbox import tool_of
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.draft import Draft
from workflows.tools.expressions import ExpressionError
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


def undoings(run: Run, steps: Sequence[Step], effects: Sequence[Effect], at: dt.datetime) -> list[Planned]:
    """What is undone as the run turns back from where it is, in order, if each undoing goes well. What something stuck
    holds back isn't among it."""
    by_id = {step.id: step for step in steps}
    rounds = {effect.id: [e.generation for e in effects if e.compensates_id == effect.id] for effect in effects}
    course = course_of(run, list(steps), list(effects), ahead=True)
    return [_undoing(of, run, by_id[of.step_id], steps, next_round(rounds[of.id]), at) for of in course.compensate]


def twin(run: Run) -> Run:
    """The same row in memory once more: what is done to it leaves the other as it is."""
    other = Run.__new__(Run)
    other.__dict__.update(run.__dict__)
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
