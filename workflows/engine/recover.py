"""Finds effects whose worker is gone: the lease is over, or the holder is dead. Called by drains and sweeps.

1. What was being sent becomes unknown under a raised fence and is looked at. Nothing is assumed done, and nothing is
   sent.
2. What was being looked at is looked at by somebody else.
3. What was handed over too often in a row, and nothing ever came back, goes to a person instead.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Any

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.engine.parts.door import WHILE_LOOKING
from workflows.fetch import fetch
from workflows.holders import alive, place
from workflows.models import Effect
from workflows.policies import next as decided
from workflows.policies import poison
from workflows.policies.after_outcome import doubted
from workflows.states import LOOKED_AT, LOOKED_AT_SQL, EffectState
from workflows.toolbox import give_tools, times_of

BATCH = 500


def recover(*, dead_holders: bool = False) -> set[uuid.UUID]:
    """One pass over leases that are over, and, if asked, over holders of this place that are dead.

    Returns the ids of effects whose worker was gone."""
    gone = _dead_here() if dead_holders else []
    with transaction.atomic():
        now = rows.now()
        lost = _found(
            LOST, {"now": now, "gone": gone, "too_often": poison.TOO_OFTEN, "until": _until(now), "batch": BATCH}
        )
        if not lost:
            return set()
        ledger.wake_runs(list({run for _, run in lost}))
        effects = fetch(Effect, LOCKED, [[effect for effect, _ in lost]])
        give_tools(effects)
        for effect in effects:
            _one(effect, effect.holder in gone, now)
        return ledger.save_effects(effects, now=now)


# Looks are due again when somebody who is alive would have ended his: what is due sooner is all that anybody can hold.
LOST = f"""
SELECT id, run_id FROM (
  SELECT id, run_id FROM workflows_effect
  WHERE state = 'dispatched' AND (lease_until <= %(now)s OR holder = ANY (%(gone)s))
  UNION ALL
  SELECT id, run_id FROM workflows_effect
  WHERE state IN ({LOOKED_AT_SQL}) AND due_at <= %(until)s
  AND ((unseen >= %(too_often)s AND due_at <= %(now)s) OR holder = ANY (%(gone)s))
) lost ORDER BY id LIMIT %(batch)s
"""  # noqa: S608  states of ours
LOCKED = "WHERE t.id = ANY (%s) ORDER BY t.id FOR UPDATE SKIP LOCKED"


def _found(text: str, params: dict[str, Any]) -> list[tuple[uuid.UUID, uuid.UUID]]:
    with connection.cursor() as cursor:
        cursor.execute(text, params)
        found: list[tuple[uuid.UUID, uuid.UUID]] = cursor.fetchall()
        return found


def _until(now: dt.datetime) -> dt.datetime:
    return now + dt.timedelta(seconds=WHILE_LOOKING)


def _one(effect: Effect, dead: bool, now: dt.datetime) -> None:
    """Moves it, if it is still as it was found: whoever was faster has left nothing to do."""
    if effect.state == EffectState.DISPATCHED:
        if dead or (effect.lease_until and effect.lease_until <= now):
            _lost(effect, dead, now)
    elif effect.state in LOOKED_AT and poison.too_often(effect) and (dead or _due(effect, now)):
        decided.apply(effect, poison.quarantine(effect, times_of(effect), now))
        effect.fence += 1
    elif effect.state in LOOKED_AT and dead:
        effect.holder, effect.due_at = "", now
        effect.payload = {"look": "its worker died while it looked"}
        effect.note()


def _due(effect: Effect, now: dt.datetime) -> bool:
    return effect.due_at is not None and effect.due_at <= now


def _lost(effect: Effect, dead: bool, now: dt.datetime) -> None:
    times = times_of(effect)
    last_send = now if dead or effect.lease_until is None else effect.lease_until
    if not dead:
        last_send += dt.timedelta(seconds=times.timeout)
    if poison.too_often(effect):
        decided.apply(effect, poison.quarantine(effect, times, last_send))
        effect.fence += 1
        return
    why = "its worker died in the middle of the call" if dead else "its worker's lease ended without an answer"
    decided.apply(effect, doubted(why, times, last_send, lost_lease=True))
    effect.due_at = now


def _dead_here() -> Collection[str]:
    """Holders in this place whose process is not there any more, or is another one by now."""
    here = f"{place()}:"
    with connection.cursor() as cursor:
        cursor.execute(HELD, {"longest": WHILE_LOOKING})
        holders = [row[0] for row in cursor.fetchall()]
    return [holder for holder in holders if holder.startswith(here) and not alive(holder)]


HELD = f"""
SELECT holder FROM workflows_effect WHERE state = 'dispatched'
UNION
SELECT holder FROM workflows_effect
WHERE state IN ({LOOKED_AT_SQL}) AND holder <> ''
AND due_at BETWEEN clock_timestamp() AND clock_timestamp() + make_interval(secs => %(longest)s)
"""  # noqa: S608  states of ours
