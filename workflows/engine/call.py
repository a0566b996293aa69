"""Calls tools, many at a time, in threads that get plain values and never touch the database.

A group re-reads stops and fences right before its calls start; what may not start any more goes back as not sent.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from django.db import connection

from workflows import rows
from workflows.engine.parts.door import calls_of, guarded
from workflows.models import Effect
from workflows.outcomes import NotSent, Outcome
from workflows.states import EffectState, Phase
from workflows.tools.base import Tool
from workflows.tools.call import Call

LEASE_SPARE = 2.0  # seconds of the lease that must remain beyond the timeout when a call starts


def begin(effects: Sequence[Effect], pool: Executor, now: dt.datetime) -> list[tuple[Effect, Future[Outcome]]]:
    """Starts the call of each dispatched effect; the futures never raise."""
    calls = calls_of(effects, now)
    allowed = still_allowed(effects)
    jobs = []
    for effect, (tool, call) in zip(effects, calls, strict=True):
        if effect.id not in allowed:
            jobs.append((effect, _done(NotSent(reason="stopped before the call began", ours=True))))
            continue
        assert effect.lease_until is not None
        held = effect.lease_until - effect.sending.started_at
        latest = effect.sending.began + held.total_seconds() - LEASE_SPARE
        jobs.append((effect, pool.submit(_send, tool, call, latest)))
    return jobs


def _done(outcome: Outcome) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(outcome)
    return future


def still_allowed(effects: Sequence[Effect]) -> set[Any]:
    """Those whose fence is still ours and whose run is not turning back (undoing goes on then)."""
    with connection.cursor() as cursor:
        cursor.execute(PRESENT, [rows.ids(e.id for e in effects)])
        present = {pk: (fence, state, phase) for pk, fence, state, phase in cursor.fetchall()}
    going = (Phase.OPEN.value, Phase.RUNNING.value)
    return {
        e.id
        for e in effects
        if (now := present.get(e.id)) is not None
        and now[:2] == (e.fence, EffectState.DISPATCHED.value)
        and (now[2] in going or not e.forward)
    }


PRESENT = """
SELECT e.id, e.fence, e.state, r.phase FROM workflows_effect e JOIN workflows_run r ON r.id = e.run_id
WHERE e.id = ANY (%s::uuid[])
"""


def _send(tool: Tool, call: Call, latest: float) -> Outcome:
    if time.monotonic() + tool.timings(call.operation).timeout > latest:
        return NotSent(reason="the lease would have ended before the answer could come", ours=True)
    return guarded(lambda: tool.send(call))
