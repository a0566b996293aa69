"""Moves runs on after their effects: steps follow, what became possible is asked, what failed turns the run back.

Locks the runs, reads everything anew, decides, writes; doing it twice changes nothing. Repeated by the sweep. Effects
are read without locks: who settles one locks its run first, and a move is written only in its place in the chain.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections import defaultdict
from typing import Any

from workflows import ledger, rows
from workflows.engine.parts import forward, turning, waits
from workflows.fetch import fetch
from workflows.models import Effect, Run, Step
from workflows.policies import run_words
from workflows.policies.residue import residue_of
from workflows.policies.unwinding import REOPENED
from workflows.signals import runs_need_people
from workflows.states import EffectState, Phase
from workflows.toolbox import give_tools, give_workflows

BATCH = 128
AHEAD = 4  # times as many wakes are looked at: the first of them may be somebody else's just now


def advance(limit: int = BATCH, *, only: uuid.UUID | None = None) -> list[uuid.UUID]:
    """Advances up to `limit` runs that are due, or that one; returns their ids. A constant number of statements."""
    with rows.together():
        now = rows.now()
        runs = _due(limit, now) if only is None else fetch(Run, ONE, [only])
        if not runs:
            return []
        ledger.woke([run.id for run in runs])
        give_workflows(runs)
        steps, effects = _load(runs)
        changes = Changes(now=now)
        people: list[Run] = []
        for run in runs:
            _one(run, steps[run.id.int], effects[run.id.int], changes, people)
        ledger.save_steps(changes.steps)
        # First the moved, then the new: a fallback takes the place of the undoing that is laid to rest.
        written = ledger.save_effects(changes.effects, now=now)
        ledger.create_effects(changes.created, now=now)
        lost = {e.run_id for e in changes.effects if e.id not in written}
        for run in runs:
            if run.id in lost:  # somebody let one of its effects go meanwhile: it is read and decided anew
                run.advance_at = now
        ledger.wake_held(lost)  # and nothing of it leaves before
        ledger.rest_runs([run for run in runs if not run.event])
        ledger.save_runs([run for run in runs if run.event], now=now)
        if people:
            runs_need_people.send(sender=Run, runs=people)
    return [run.id for run in runs]


def _due(limit: int, now: dt.datetime) -> list[Run]:
    """Those that were woken, then those whose own time has come. Whoever wakes a run locks it first, so a wake is never
    lost between being read and being forgotten."""
    woken = {run.id: run for run in fetch(Run, WOKEN, [AHEAD * limit, limit])}
    return [*woken.values(), *(run for run in fetch(Run, DUE, [now, limit - len(woken)]) if run.id not in woken)]


WOKEN = """
WHERE t.id = ANY (ARRAY(SELECT run_id FROM workflows_wake ORDER BY at LIMIT %s))
LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
"""
DUE = "WHERE t.advance_at <= %s ORDER BY t.advance_at LIMIT %s FOR NO KEY UPDATE SKIP LOCKED"
ONE = "WHERE t.id = %s FOR NO KEY UPDATE SKIP LOCKED"


class Changes:
    """What one call of `advance` will write."""

    def __init__(self, now: dt.datetime) -> None:
        self.now = now
        self.steps: list[Step] = []
        self.effects: list[Effect] = []
        self.created: list[Effect] = []
        self.born: dict[uuid.UUID, list[Effect]] = defaultdict(list)  # the same by their run

    def create(self, effect: Effect) -> None:
        self.created.append(effect)
        self.born[effect.run_id].append(effect)


def _load(runs: list[Run]) -> tuple[dict[int, list[Step]], dict[int, list[Effect]]]:
    """By the number of the run's id: an id makes its hash anew whenever it is looked for."""
    ids = rows.ids(run.id for run in runs)
    steps: dict[int, list[Step]] = defaultdict(list)
    found = fetch(Step, "WHERE t.run_id = ANY (%s::uuid[]) ORDER BY t.ordinal", [ids])
    give_tools(found)
    for step in found:
        steps[step.run_id.int].append(step)
    effects: dict[int, list[Effect]] = defaultdict(list)
    for effect in fetch(Effect, "WHERE t.run_id = ANY (%s::uuid[]) ORDER BY t.id", [ids]):
        effects[effect.run_id.int].append(effect)
    return steps, effects


def _one(run: Run, steps: list[Step], effects: list[Effect], changes: Changes, people: list[Run]) -> None:
    was = (run.phase, run.state, run.needs_person, list(run.people_reasons), run.waits_until)
    run.advance_at = None
    if run.phase == Phase.OVER and any(e.state == EffectState.STUCK for e in effects):
        run.reopen()
    elif run.phase == Phase.OVER and any(reason["code"] == run_words.BROKEN for reason in run.people_reasons):
        run.reopen(ending=REOPENED)  # it could not be advanced, and now it is: it ends as its effects say
    if run.phase == Phase.OVER:
        return
    moved = forward.follow(steps, effects, changes)
    reasons: list[dict[str, Any]] = []
    if run.phase in (Phase.OPEN, Phase.RUNNING):
        reasons = forward.go_on(run, steps, effects, changes)
    if run.phase == Phase.UNWINDING:
        reasons = turning.turn_back(run, steps, effects, changes)
    if run.phase != Phase.OVER:
        reasons = [*reasons, *waits.too_long(run, steps, effects, reasons, changes)]
    reasons = [*reasons, *(said for said in run.people_reasons if said["code"] == run_words.PERSON)]
    run.people_reasons, run.needs_person = reasons, bool(reasons)
    _say(run, steps, effects + changes.born[run.id], changes.now)
    if (run.needs_person, list(run.people_reasons)) != (was[2], was[3]) or (was[2] and run.phase == Phase.OVER):
        people.append(run)
    if not run.event and (
        moved or (run.phase, run.state, run.needs_person, run.people_reasons, run.waits_until) != was
    ):
        run.event = "note"
    if run.event:
        run.payload = {"state": run.state, **({"steps": moved} if moved else {})}
        if run.end_reason and run.event == "unwind":
            run.payload["reason"] = run.end_reason


def _say(run: Run, steps: list[Step], effects: list[Effect], now: dt.datetime) -> None:
    if run.phase == Phase.OVER and run.ending == REOPENED:
        run.ending = ""  # it never turned back
    run.state = run_words.state_of(run, steps, effects)
    if run.phase == Phase.OVER:
        run.ended_at, run.waits_until = now, None
        run.is_clean = run_words.is_clean(run.state, effects)
        run.residue = residue_of(run.state, effects, turned=bool(run.end_cause))
        return
    deadline = run.deadline if run.phase != Phase.UNWINDING and run.deadline and run.deadline > now else None
    run.advance_at = min((t for t in (run.advance_at, run.waits_until, deadline) if t), default=None)
