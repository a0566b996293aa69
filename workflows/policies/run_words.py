"""The one word for a run, and whether it is clean. Pure; `engine.advance` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workflows.policies.residue import residue_of
from workflows.states import EffectState, Kind, Phase, RunState, StepState

PERSON = "person"  # the reason of a run that needs a person because a person says so
BROKEN = "engine_error"  # of one that could not be advanced
GONE_ON = (StepState.DONE.value, StepState.SKIPPED.value)


def state_of(run: Any, steps: Iterable[Any], effects: Iterable[Any]) -> str:
    """The first that holds: stuck while a person must act; the phase; and once over what became of it."""
    if run.needs_person:
        return RunState.STUCK.value
    if run.phase != Phase.OVER:
        return str(run.phase)
    steps, effects = list(steps), list(effects)
    acts = [e for e in effects if not e.read_only and not e.met]
    forward = [e for e in acts if not e.compensates_id]
    if any(e.state == EffectState.WRITTEN_OFF for e in acts):
        return RunState.WRITTEN_OFF.value
    if run.ending == "written_off":
        return RunState.WRITTEN_OFF.value
    if run.repaired or any(e.kind == Kind.REMEDY and e.settled for e in acts):
        return RunState.REPAIRED.value
    if not run.ending and all(step.state in GONE_ON for step in steps):
        return RunState.COMPLETED.value
    if any(e.state == EffectState.UNDONE or e.world not in ("nothing", "gone") for e in forward):
        left = residue_of(RunState.COMPENSATED.value, effects)
        return (RunState.COMPENSATED_WITH_RESIDUE if left else RunState.COMPENSATED).value
    return (RunState.CANCELLED if run.end_cause == "cancel" else RunState.FAILED).value


def is_clean(state: str, effects: Iterable[Any]) -> bool:
    """Completed, all verified, no residue. What only reads is settled by its answer."""
    effects = list(effects)
    if state != RunState.COMPLETED:
        return False
    acts = [e for e in effects if not (e.read_only or called_off(e))]
    return all(e.state == EffectState.VERIFIED for e in acts) and not residue_of(state, effects)


def called_off(effect: Any) -> bool:
    """A remedy that never left: the run is what it would be without it."""
    return bool(effect.kind == Kind.REMEDY and effect.state == EffectState.CANCELLED)
