"""Calls tools, many at a time, in threads that get plain values and never touch the database.

1. A group re-reads stops and fences right before its calls start, under the lock that a freeze waits for.
2. The lock is held until each call of the group has begun; one that has not by then goes back as not sent.
So a freeze returns when all that was allowed before it has begun, and nothing that has not begun is allowed any more.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from django.db import connection

from workflows import rows
from workflows.authority import stops
from workflows.engine.parts import last_read
from workflows.engine.parts.door import calls_of, guarded, guarded_all
from workflows.engine.parts.groups import grouped, shares
from workflows.engine.parts.start import Start
from workflows.models import Effect
from workflows.outcomes import NotSent, Outcome
from workflows.states import EffectState, Phase
from workflows.tools.base import Tool
from workflows.tools.call import Call

LEASE_SPARE = 2.0  # seconds of the lease that must remain beyond the timeout when a call starts
MOVED = "what it builds upon needs a person, or is called otherwise by now"
BEGIN_WITHIN = 1.0  # seconds for threads to take their calls; a freeze waits for no longer than that


def begin(effects: Sequence[Effect], pool: Executor, now: dt.datetime) -> list[tuple[Effect, Future[Outcome]]]:
    """Starts the call of each dispatched effect; the futures never raise."""
    calls = calls_of(effects, now)
    jobs: list[tuple[Effect, Future[Outcome]]] = []
    with rows.together():
        stops.share()
        (allowed, moved), held = still_allowed(effects), frozen(effects)
        outdated = last_read.outdated([(e, c[1]) for e, c in zip(effects, calls, strict=True) if e.id in moved])
        allowed -= outdated
        going = [(e, *c) for e, c in zip(effects, calls, strict=True) if e.id in allowed and e.id not in held]
        groups = grouped(going)
        start = Start(len(groups))
        for effect in effects:
            if effect.id in outdated:
                jobs.append((effect, _done(NotSent(reason=MOVED, ours=True))))
            elif effect.id not in allowed:
                jobs.append((effect, _done(NotSent(reason="stopped before the call began", ours=True))))
            elif effect.id in held:
                jobs.append((effect, _done(held[effect.id])))
        for group in groups:
            shared = pool.submit(_send, [g[1:] for g in group], min(_latest(g[0]) for g in group), start)
            jobs += zip([g[0] for g in group], shares(shared, len(group)), strict=True)
        start.close(BEGIN_WITHIN)
    return jobs


def _latest(effect: Effect) -> float:
    """Until when its answer must have come, by this process's own clock."""
    assert effect.lease_until is not None
    held = effect.lease_until - effect.sending.started_at
    latest: float = effect.sending.began + held.total_seconds() - LEASE_SPARE
    return latest


def _done(outcome: Outcome) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(outcome)
    return future


def still_allowed(effects: Sequence[Effect]) -> tuple[set[Any], set[Any]]:
    """Those whose fence is still ours, whose run is not turning back (undoing goes on then), and whose approval nobody
    took back. And of these the forward ones in whose runs anything moved since: names may have."""
    with connection.cursor() as cursor:
        cursor.execute(PRESENT, [rows.ids(e.id for e in effects)])
        present = {row[0]: row[1:] for row in cursor.fetchall()}
    going = (Phase.OPEN.value, Phase.RUNNING.value)
    allowed = [
        e
        for e in effects
        if (now := present.get(e.id)) is not None
        and now[:2] == (e.fence, EffectState.DISPATCHED.value)
        and (now[2] in going or not e.forward)
    ]
    moved = {e.id for e in allowed if e.forward and present[e.id][3:] != (e.run.seq, False)}
    return {e.id for e in allowed}, moved


PRESENT = """
SELECT e.id, e.fence, e.state, r.phase, r.seq, EXISTS (SELECT 1 FROM workflows_wake w WHERE w.run_id = r.id)
FROM workflows_effect e JOIN workflows_run r ON r.id = e.run_id
WHERE e.id = ANY (%s::uuid[]) AND NOT EXISTS (
  SELECT 1 FROM workflows_approval a WHERE a.effect_id = e.id AND a.fence = e.fence AND a.state = 'void')
"""


def frozen(effects: Sequence[Effect]) -> dict[Any, NotSent]:
    """Those that a stop holds by now. They are not counted as sent, however long they have been tried."""
    standing = stops.standing()
    found = {}
    for effect in effects if standing else ():
        if by := stops.holding(effect, standing):
            found[effect.id] = NotSent(reason=f"{by[0].on} was frozen before the call began", ours=True, held=True)
    return found


def _send(group: Sequence[tuple[Tool, Call]], latest: float, start: Start) -> list[Outcome]:
    tool, call = group[0]
    if time.monotonic() + tool.timings(call.operation).timeout > latest:
        start.begin()  # nobody waits for it
        return [NotSent(reason="the lease would have ended before the answer could come", ours=True)] * len(group)
    if not start.begin():
        return [NotSent(reason="it could not begin in its time", ours=True)] * len(group)
    if len(group) == 1:
        return [guarded(lambda: tool.send(call))]
    return guarded_all(lambda: tool.send_all([call for _, call in group]), len(group))
