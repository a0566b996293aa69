"""Marks ready effects as dispatched, in one transaction that commits before the first byte leaves.

1. Claim what is due, of runs that nobody is moving and that have been read since something of them moved, no more than
   there are free call slots; block what a stop holds.
2. Look at windows and dependants; decide by policy on present facts, and by approvals where it asks for them.
3. Keep to the tools' limits, take the scopes, reserve the budgets; who doesn't get them waits, and says for what.
4. Raise the fence, spend approvals, write the attempt and the decision. Commit.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from typing import Any

from django.db import connection

from workflows import ledger, rows
from workflows.authority import approvals, budgets, credentials, policy, static_secrets, stops
from workflows.engine.parts import asking, gauges, key_places, names, permission, promises, suspects
from workflows.engine.parts.joined import join_agents, join_runs, join_tools
from workflows.fetch import fetch, new
from workflows.holders import holder_name
from workflows.models import Attempt, Effect, ScopeHold, ScopeUse
from workflows.policies import scopes, spending
from workflows.states import EffectState, Phase
from workflows.toolbox import times_of
from workflows.tools.expressions import ExpressionError
from workflows.windows import undoable_until

LEASE_BEYOND_TIMEOUT = 20.0  # seconds for taking a thread, recording the answer, and a slow database
ORDER_AGAIN = 30.0  # seconds; a waiter is looked at again even if no release woke it


def dispatch(limit: int, full: set[uuid.UUID] | None = None) -> list[Effect]:
    """Up to `limit` effects that may be called now, each under a lease. A constant number of statements.

    Tools in `full` are passed over; those whose slots turn out to be full are added to it."""
    began = time.monotonic()
    with rows.together():
        stops.share()
        now = rows.now()
        effects = _claim(limit, now, full or set())
        effects = names.told(effects) if effects else []
        if not effects:
            return []
        stopped: list[Effect] = []
        holder = holder_name()
        effects = suspects.to_send(effects, holder, now)
        going = stops.hold_back(effects, stopped)
        going = static_secrets.hold_back(going, now, stopped)
        going = credentials.hold_back(going, now, stopped)
        going = [e for e in going if _may_leave(e, now, stopped)]
        going = promises.keep(going, now, stopped)
        going = _without_dependants(going, stopped)
        going, decisions = permission.ask(going, now, stopped)
        going = _within_limits(going, stopped, now, full if full is not None else set())
        going = _take_scopes(going, stopped, now)
        going = budgets.reserve(going, now, stopped)
        for effect in going:
            lease = now + dt.timedelta(seconds=times_of(effect).timeout + LEASE_BEYOND_TIMEOUT)
            effect.dispatch(now=now, lease_until=lease, holder=holder)
        approvals.spend(going, now)
        runs = {e.run_id for e in stopped if e.state != EffectState.BLOCKED or spending.for_a_person(e)}
        ledger.wake_held(runs)
        ledger.save_effects([*going, *stopped], now=now)
        places = key_places.prints(going, now)
        attempts = [_attempt(e, now, places.get(e.id, "")) for e in going]
        gone = {e.id for e in going}
        ledger.intend(attempts, [d for d in decisions if d.effect_id in gone or d.verdict != policy.ALLOW])
    for effect, attempt in zip(going, attempts, strict=True):
        attempt.began = began
        effect.sending = attempt
    return going


def _claim(limit: int, now: dt.datetime, full: set[uuid.UUID]) -> list[Effect]:
    """Locks each run before its effect; what somebody else is moving is passed over for the next in order."""
    effects = fetch(Effect, READY, [now, list(full), limit])
    if effects:
        join_runs(effects)
        join_agents(effects)
        join_tools(effects)
    return effects


# In the order of the index `effect_ready`, without a sort, whatever the backlog.
READY = """
JOIN workflows_run r ON r.id = t.run_id
WHERE t.state = 'ready' AND t.due_at <= %s AND t.tool_id <> ALL (%s)
ORDER BY t.epoch, t.ordinal, t.id LIMIT %s
FOR SHARE OF r SKIP LOCKED FOR UPDATE OF t SKIP LOCKED
"""


def _may_leave(effect: Effect, now: dt.datetime, stopped: list[Effect]) -> bool:
    if effect.forward and effect.run.phase in (Phase.UNWINDING, Phase.OVER):
        return False  # `advance` cancels it
    if window := _window_closed(effect, now):
        effect.stick(reason="window", detail=window)
        stopped.append(effect)
        return False
    return True


def _window_closed(effect: Effect, now: dt.datetime) -> str:
    if effect.compensates is None:
        return ""
    try:
        end = undoable_until(effect, effect.run)
    except (ExpressionError, ValueError) as trouble:
        return f"until when it can be undone can't be told: {trouble}"
    return f"it could be undone until {end.isoformat(timespec='seconds')}" if end and now > end else ""


def _without_dependants(effects: list[Effect], stopped: list[Effect]) -> list[Effect]:
    """A compensation over a later effect of another run would pull the ground from under it: a person decides."""
    undoing = [e for e in effects if e.compensates_id]
    if not undoing:
        return effects
    with connection.cursor() as cursor:
        cursor.execute(LATER, [[e.id for e in undoing]])
        found: dict[uuid.UUID, list[Any]] = {}
        for mine, other, run, scope in cursor.fetchall():
            found.setdefault(mine, []).append({"effect": str(other), "run": str(run), "scope": scope})
    for effect in undoing:
        if later := found.get(effect.id):
            names = ", ".join(f"{x['scope']} of run {x['run']}" for x in later[:5])
            effect.stick(reason="dependants", detail=f"later effects stand on it: {names}", blocked_by=later)
            stopped.append(effect)
    return [e for e in effects if e.id not in found]


LATER = """
SELECT c.id, later.id, later.run_id, theirs.scope
FROM workflows_effect c
JOIN workflows_effect f ON f.id = c.compensates_id
JOIN workflows_scopeuse mine ON mine.effect_id = f.id
JOIN workflows_scopeuse theirs ON theirs.scope = mine.scope AND theirs.id > mine.id
JOIN workflows_effect later ON later.id = theirs.effect_id
WHERE c.id = ANY (%s) AND later.run_id <> f.run_id AND later.kind <> 'compensation'
  AND later.world NOT IN ('nothing', 'gone') AND later.effect_class <> 'read_only'
ORDER BY c.id, later.id
"""


def _within_limits(
    effects: list[Effect], stopped: list[Effect], now: dt.datetime, full: set[uuid.UUID]
) -> list[Effect]:
    """Who finds its tool's slots taken stays ready; who finds its minute used up or its breaker open says so."""
    going, blocked, taken = gauges.allot(effects, now)
    full |= taken
    for effect, room in blocked:
        by = [{room.reason: effect.tool.name, "until": room.until.isoformat() if room.until else None}]
        effect.block(reason=room.reason, blocked_by=by)  # its tool's gauge says when
        stopped.append(effect)
    return going


def _take_scopes(effects: list[Effect], stopped: list[Effect], now: dt.datetime) -> list[Effect]:
    wanted = sorted({scope for e in effects for scope in e.scopes})
    if not wanted:
        return effects
    holds = ScopeHold.objects.filter(scope__in=wanted).order_by("scope").select_for_update()
    held = {h.scope: h.effect_id for h in holds}
    go, wait = scopes.allot(effects, held)
    go = asking.anew(go, stopped, now)
    taken = ledger.hold(
        [ScopeHold(scope=scope, effect_id=e.id, since=now) for e in go for scope in e.scopes],
        [ScopeUse(scope=scope, effect_id=e.id) for e in go if not e.first_sent_at for scope in e.scopes],
    )
    for effect, busy in wait:
        by = [{"scope": scope, "effect": str(holder)} for scope, holder in busy]
        asking.waits(effect)
        effect.block(reason="order", blocked_by=by, due_at=now + dt.timedelta(seconds=ORDER_AGAIN))
        stopped.append(effect)
    # Who lost a race for a scope stays ready: the next claim sees the holder. What it did take is given back.
    lost = [e for e in go if not taken.issuperset(e.scopes)]
    ledger.let_go([e.id for e in lost])
    return [e for e in go if taken.issuperset(e.scopes)]


def _attempt(effect: Effect, now: dt.datetime, key_place: str) -> Attempt:
    return new(
        Attempt,
        effect_id=effect.id,
        number=effect.attempts,
        fence=effect.fence,
        holder=effect.holder,
        started_at=now,
        key_place=key_place,
    )
