"""Finds effects whose worker is gone: the lease is over, or the holder is dead. Called by drains and sweeps.

Nothing is assumed done, and nothing is sent: each becomes unknown under a raised fence and is looked at.
"""

from __future__ import annotations

import datetime as dt
import os
import uuid

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.fetch import fetch
from workflows.holders import alive
from workflows.models import Effect
from workflows.policies import next as decided
from workflows.policies.after_outcome import doubted
from workflows.states import EffectState
from workflows.toolbox import give_tools, times_of

BATCH = 500


def recover(*, dead_holders: bool = False) -> set[uuid.UUID]:
    """One pass over leases that are over, and, if asked, over holders of this host that are dead.

    Returns the ids of effects that became unknown."""
    gone = _dead_here() if dead_holders else []
    with transaction.atomic():
        now = rows.now()
        with connection.cursor() as cursor:
            cursor.execute(LOST, [EffectState.DISPATCHED.value, now, gone, BATCH])
            lost = cursor.fetchall()
        if not lost:
            return set()
        ledger.wake_runs(list({run for _, run in lost}))
        effects = fetch(Effect, LEASED, [[e for e, _ in lost]])
        give_tools(effects)
        effects = [e for e in effects if e.holder in gone or (e.lease_until and e.lease_until <= now)]
        for effect in effects:
            times = times_of(effect)
            dead = effect.holder in gone
            last_send = now if dead or effect.lease_until is None else effect.lease_until
            if not dead:
                last_send += dt.timedelta(seconds=times.timeout)
            why = "its worker died in the middle of the call" if dead else "its worker's lease ended without an answer"
            step = doubted(why, times, last_send, lost_lease=True)
            decided.apply(effect, step)
            effect.due_at = now
        return ledger.save_effects(effects, now=now)


LOST = """
SELECT id, run_id FROM workflows_effect
WHERE state = %s AND (lease_until <= %s OR holder = ANY (%s)) ORDER BY id LIMIT %s
"""


LEASED = "WHERE t.id = ANY (%s) AND t.state = 'dispatched' ORDER BY t.id FOR UPDATE SKIP LOCKED"


def _dead_here() -> list[str]:
    """Holders on this host whose process is not there any more, or is another one by now."""
    host = os.uname().nodename
    holders = (
        Effect.objects.filter(state=EffectState.DISPATCHED.value, holder__startswith=f"{host}:")
        .order_by()
        .values_list("holder", flat=True)
        .distinct()
    )
    return [holder for holder in holders if not alive(holder)]
