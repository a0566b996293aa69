"""The only door that writes runs, steps and effects. Every move and its journal entry are one commit.

A caller moves instances in memory and hands them over, inside a transaction; what somebody else moved meanwhile
(fence, state or place in the chain differ) is not written, and its id is not among those returned.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from workflows import journal, rows
from workflows.models import Attempt, Decision, Effect, Look, Run, ScopeHold, ScopeUse, Step
from workflows.states import MOVES

EFFECT_COLUMNS = (
    "state", "world", "reason", "detail", "blocked_by", "due_at", "fence", "lease_until", "holder", "attempts",
    "first_sent_at", "doubt", "lost_lease", "unanswered", "unseen", "believe_miss_from", "late_until", "misses",
    "backoffs", "looks_until", "unreached_since", "unreached", "asked", "result", "before", "poll", "external_ref",
    "verifiable", "verified_at", "granted", "accepted", "changed_at", "progress_at", "seq", "head",
)  # fmt: skip
RUN_COLUMNS = (
    "phase", "state", "is_clean", "sealed", "ending", "end_cause", "end_reason", "needs_person", "people_reasons",
    "repaired", "residue", "waits_until", "deadline", "advance_at", "changed_at", "ended_at", "seq", "head",
)  # fmt: skip
AGAIN = ("advance_at",)
STEP_COLUMNS = ("state", "arguments", "reason", "detail", "result")

WAITING = ("note", "block", "release")  # moves after which an effect has got no further

ENGINE = "engine"  # who moves what nobody asked to move
WORK_CHANNEL, RUNS_CHANNEL = "makegood_work", "makegood_runs"


def create_effects(effects: Sequence[Effect], *, now: dt.datetime, actor: str = ENGINE) -> None:
    _create(effects, "effect", now=now, actor=actor)


def create_run(run: Run, steps: Sequence[Step], *, now: dt.datetime, actor: str) -> None:
    _create([run], "run", now=now, actor=actor)
    rows.create(steps)
    notify([run.id], work=True)


def create_steps(run: Run, steps: Sequence[Step], *, now: dt.datetime, actor: str) -> None:
    """Adds steps to a run that the caller locked; the run's chain says so."""
    rows.create(steps)
    run.event = run.event or "add_step"
    run.payload = {**(run.payload or {}), "steps": [step.name for step in steps]}
    save_runs([run], now=now, actor=actor)


def _create(subjects: Sequence[Any], kind: str, *, now: dt.datetime, actor: str) -> None:
    events = [
        journal.Event(
            subject=s,
            kind=kind,
            run_id=s.id if kind == "run" else s.run_id,
            event="create",
            after=s.phase if kind == "run" else s.state,
            world="" if kind == "run" else s.world,
            actor=actor,
        )
        for s in subjects
    ]
    made = journal.chain(events, at=now)
    rows.create(subjects)
    journal.write(made)
    for subject in subjects:
        subject.remember()


def save_effects(effects: Sequence[Effect], *, now: dt.datetime, actor: str = ENGINE) -> set[uuid.UUID]:
    """Writes moved effects (`event` set by the move; "note" where only knowledge changed) with their entries.

    Holds of effects that are settled or at rest are given up. Returns the ids written.
    """
    moved = [effect for effect in effects if effect.event]
    guards = [effect_guard(effect) for effect in moved]
    made = journal.chain([_event_of(effect, actor) for effect in moved], at=now)
    for effect in moved:
        effect.changed_at = now
        if effect.event not in WAITING:
            effect.progress_at = now
    written = rows.update(moved, rows.changed(moved, EFFECT_COLUMNS), guards)
    journal.write(pair for pair, effect in zip(made, moved, strict=True) if effect.id in written)
    for effect in moved:
        effect.event, effect.payload = "", None
        effect.remember()
    done = [e for e in moved if e.scopes and e.id in written and not e.open]
    hand_back([e.id for e in done if e.reason == "fallback" or e.makes_good_id])
    let_go([e.id for e in done if e.reason != "fallback"], [e.compensates_id for e in done if e.compensates_id])
    notify({e.run_id for e in moved if e.id in written}, work=actor != ENGINE)
    return written


def effect_guard(effect: Effect) -> dict[str, Any]:
    """What must still hold in the database for this move: its fence and place as they were read, and a source state."""
    sources = SOURCES.get(effect.event) or [str(effect.state)]
    return {"fence": effect.was_fence, "seq": effect.was_seq, "states": sources}


SOURCES = {name: [str(state) for state in move.sources] for name, move in MOVES.items()}


def _event_of(effect: Effect, actor: str) -> journal.Event:
    payload = dict(effect.payload or {})
    payload.update({name: value for name in ("reason", "detail") if (value := getattr(effect, name))})
    return journal.Event(
        subject=effect,
        kind="effect",
        run_id=effect.run_id,
        event=effect.event,
        before=effect.was_state,
        after=effect.state,
        world=effect.world,
        fence=effect.fence,
        actor=actor,
        payload=payload or None,
    )


def save_runs(runs: Sequence[Run], *, now: dt.datetime, actor: str = ENGINE) -> None:
    """Writes runs that the caller has locked; those with an `event` get an entry in their chain."""
    moved = [run for run in runs if run.event]
    made = journal.chain(
        [
            journal.Event(
                subject=run,
                kind="run",
                run_id=run.id,
                event=run.event,
                before=run.was_phase,
                after=run.phase,
                actor=actor,
                payload=run.payload,
            )
            for run in moved
        ],
        at=now,
    )
    for run in runs:
        run.changed_at = now
    rows.update(runs, rows.changed(runs, RUN_COLUMNS), [{} for _ in runs])
    journal.write(made)
    for run in runs:
        run.event, run.payload = "", None
        run.remember()
    notify({run.id for run in moved}, work=actor != ENGINE)


def save_steps(steps: Sequence[Step]) -> None:
    """Writes steps of runs that the caller has locked; their run's entry of the same commit names them."""
    rows.update(steps, STEP_COLUMNS, [{} for _ in steps])
    for step in steps:
        step.event = ""


def intend(attempts: Sequence[Attempt], decisions: Sequence[Decision]) -> None:
    """Writes the intents of sends, with the decisions that let them go, in the transaction that dispatches them."""
    rows.create(attempts)
    rows.create(decisions)


def complete(attempts: Sequence[Attempt]) -> None:
    rows.update(attempts, ("ended_at", "outcome", "reason", "evidence", "stale"), [{} for _ in attempts])


def saw(looks: Sequence[Look]) -> None:
    rows.create(looks)


def hold(holds: Sequence[ScopeHold], uses: Sequence[ScopeUse]) -> set[str]:
    """Takes scopes for effects; returns those that were free (or handed over by what is undone or made good)."""
    if not holds:
        return set()
    data = [{"scope": h.scope, "effect_id": h.effect_id, "since": h.since} for h in holds]
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [rows.encode(sorted(data, key=lambda d: d["scope"]))])
        taken = {row[0] for row in cursor.fetchall()}
    rows.create(uses)
    return taken


HOLD = """
INSERT INTO workflows_scopehold AS h (scope, effect_id, since)
SELECT scope, effect_id, since FROM json_to_recordset(%s::json)
  AS v(scope text, effect_id uuid, since timestamptz)
ON CONFLICT (scope) DO UPDATE SET effect_id = excluded.effect_id, since = excluded.since
  WHERE h.effect_id = excluded.effect_id OR h.effect_id = (
    SELECT coalesce(c.compensates_id, c.makes_good_id) FROM workflows_effect c WHERE c.id = excluded.effect_id)
RETURNING scope
"""


def let_go(effect_ids: Sequence[uuid.UUID], undone_ids: Sequence[uuid.UUID] = ()) -> None:
    """`undone_ids`: what ended undoings were of; they hold on to nothing either, unless they are still in doubt."""
    if effect_ids:
        with connection.cursor() as cursor:
            cursor.execute(LET_GO, [list(effect_ids), list(undone_ids)])


LET_GO = """
DELETE FROM workflows_scopehold WHERE effect_id = ANY (ARRAY(
  SELECT unnest(%s::uuid[]) UNION ALL SELECT id FROM workflows_effect WHERE id = ANY (%s::uuid[])
  AND state IN ('verified', 'undone', 'failed', 'cancelled', 'written_off')))
"""


def hand_back(effect_ids: Sequence[uuid.UUID]) -> None:
    """Gives the scopes of refused undoings to what they should have undone, from which the fallbacks take them over:
    nobody else gets in between. So it is with those of remedies, while what they made good is open itself."""
    if effect_ids:
        with connection.cursor() as cursor:
            cursor.execute(HAND_BACK, [list(effect_ids)])


HAND_BACK = """
UPDATE workflows_scopehold h SET effect_id = f.id FROM workflows_effect e
JOIN workflows_effect f ON f.id = coalesce(e.compensates_id, e.makes_good_id)
WHERE e.id = h.effect_id AND h.effect_id = ANY (%s)
  AND (e.compensates_id IS NOT NULL OR f.state = 'stuck' AND h.scope = ANY (f.scopes))
"""


def look_begins(effects: Sequence[Effect], *, until: dt.datetime, holder: str) -> None:
    """Says who looks at effects now, and that he may not come back; no move, so no entry. Nobody else looks at them
    before `until`. The counts are raised before anything is looked at: who dies of it can't forget them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE workflows_effect SET due_at = %s, holder = %s, unseen = unseen + 1 WHERE id = ANY (%s::uuid[])",
            [until, holder, rows.ids(effect.id for effect in effects)],
        )
    for effect in effects:
        effect.due_at, effect.holder = until, holder
        effect.unseen += 1
        effect.remember()


def postpone(effect_ids: Sequence[uuid.UUID], until: Sequence[dt.datetime | None]) -> None:
    """Moves the next look's time of effects on while somebody looks, or away; no move, so no entry."""
    if not effect_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE workflows_effect e SET due_at = v.due_at FROM unnest(%s::uuid[], %s::timestamptz[])"
            " AS v(id, due_at) WHERE e.id = v.id",
            [list(effect_ids), list(until)],
        )


def rest_runs(runs: Sequence[Run]) -> None:
    """Writes only when runs that did not move are advanced again; the caller has locked them."""
    moved = [run for run in runs if rows.changed([run], AGAIN)]
    rows.update(moved, AGAIN, [{} for _ in moved])


def wake_runs(run_ids: Collection[uuid.UUID]) -> None:
    """Makes runs due to be advanced. Called before their effects are written: runs are locked before effects."""
    if not run_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(WAKE, [rows.ids(run_ids)])


WAKE = """
INSERT INTO workflows_wake (run_id, at) SELECT r.id, clock_timestamp() FROM
  (SELECT id FROM workflows_run WHERE id = ANY (%s::uuid[]) ORDER BY id FOR NO KEY UPDATE) r
ON CONFLICT (run_id) DO NOTHING
"""


def wake_held(run_ids: Collection[uuid.UUID]) -> None:
    """The same for runs that the caller holds in share, which keeps `advance` out too. Locking them here would ask for
    more of a row that others share: two who do so wait for each other."""
    if run_ids:
        with connection.cursor() as cursor:
            cursor.execute(WAKE_HELD, [rows.ids(run_ids)])


WAKE_HELD = """
INSERT INTO workflows_wake (run_id, at) SELECT id, clock_timestamp() FROM unnest(%s::uuid[]) id ORDER BY id
ON CONFLICT (run_id) DO NOTHING
"""


def woke(run_ids: Collection[uuid.UUID]) -> None:
    """Forgets the wakes of runs that the caller has locked and has read, or will."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM workflows_wake WHERE run_id = ANY (%s::uuid[])", [rows.ids(run_ids)])


def notify(run_ids: Collection[uuid.UUID], *, work: bool) -> None:
    """Tells who waits for a run, at commit, and with `work` the drains too. A hint: nothing depends on it.

    A drain that moves something goes on with it by itself; to wake the others for that would only make them look."""
    if run_ids:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_notify(%s, id::text) FROM unnest(%s::uuid[]) id"
                " UNION ALL SELECT pg_notify(%s, '') WHERE %s::boolean",
                [RUNS_CHANNEL, rows.ids(run_ids), WORK_CHANNEL, work],
            )
