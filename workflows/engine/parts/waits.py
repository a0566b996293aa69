"""Says of what has waited too long that a person must look after it. For `advance` only."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from workflows.engine.parts.forerunners import held
from workflows.models import Effect, Run, Step
from workflows.policies import ages
from workflows.policies.unwinding import REMEDY, reason_of
from workflows.states import Phase

if TYPE_CHECKING:
    from workflows.engine.advance import Changes

NAMED = 3  # holders in a sentence; the run's page shows the whole chain


def too_long(
    run: Run, steps: list[Step], effects: list[Effect], reasons: list[dict[str, Any]], changes: Changes
) -> list[dict[str, Any]]:
    """Reasons for a person, beside those that there are already."""
    told = {reason["effect"] for reason in reasons if reason["code"] != REMEDY}
    found = []
    for effect in effects:
        since = ages.overdue_since(effect, changes.now)
        if since is not None and str(effect.id) not in told and not (reasons and held(effect)):
            step = next(step for step in steps if step.id == effect.step_id)
            found.append(reason_of(effect, step, ages.NO_PROGRESS, _detail(effect, since)))
    if not found and not reasons and _stands_still(run, effects, changes):
        detail = f"{ages.said(run.changed_at)}, and nothing of it is under way"
        found.append({"code": ages.NO_PROGRESS, "effect": None, "step": "", "tool": "", "detail": detail})
    return found


def _detail(effect: Effect, since: dt.datetime) -> str:
    waits = f" ({effect.reason})" if effect.reason else ""
    return f"{ages.said(since)}: it is {effect.state}{waits}{_behind(effect)}"


def _behind(effect: Effect) -> str:
    """Who hangs: whoever gets this must know whom to turn to."""
    holders = [f"{by['scope']} is in the hands of effect {by['effect']}" for by in effect.blocked_by if "scope" in by]
    return f"; {', '.join(holders[:NAMED])}" if holders else ""


def _stands_still(run: Run, effects: list[Effect], changes: Changes) -> bool:
    """Nothing is under way, nothing began just now, and yet it isn't over."""
    if run.phase not in (Phase.RUNNING, Phase.UNWINDING) or run.event or changes.born[run.id]:
        return False
    if run.advance_at is not None or (run.waits_until is not None and run.waits_until > changes.now):
        return False
    moving = any(not (e.settled or e.at_rest) for e in effects)
    return not moving and changes.now > run.changed_at + dt.timedelta(seconds=ages.OF_A_RUN)
