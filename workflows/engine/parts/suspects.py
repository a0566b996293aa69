"""Keeps those apart whose last send, or look, ended their worker or never came back. For dispatch and look only.

One of them is under way at a time in each process. If the worker dies again it was that one: what else it held was
handed over for the first time, and is never suspected of it a second time in a row.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db.models import QuerySet

from workflows import ledger
from workflows.models import Effect
from workflows.states import LOOKED_AT, EffectState

APART = dt.timedelta(seconds=0.1)  # about a short call; whoever comes too early waits once more
FARTHEST = 50  # times that: nobody waits longer for one that turns out to be long


def to_send(effects: Sequence[Effect], holder: str, now: dt.datetime) -> list[Effect]:
    """Without those that have to wait for another suspect; their turn comes by itself."""
    found = [effect for effect in effects if effect.unanswered]
    sent = Effect.objects.filter(state=EffectState.DISPATCHED.value, unanswered__gt=1)
    return _apart(effects, found, sent, holder, now)


def to_look_at(effects: Sequence[Effect], holder: str, now: dt.datetime) -> list[Effect]:
    """The same of looks."""
    found = [effect for effect in effects if effect.unseen]
    looked_at = Effect.objects.filter(unseen__gt=1, due_at__gt=now, state__in=[s.value for s in LOOKED_AT])
    return _apart(effects, found, looked_at, holder, now)


def _apart(
    effects: Sequence[Effect], found: Sequence[Effect], under_way: QuerySet[Effect], holder: str, now: dt.datetime
) -> list[Effect]:
    if not found:
        return list(effects)
    later = found if under_way.filter(holder=holder).exists() else found[1:]
    ledger.postpone([e.id for e in later], [now + min(n, FARTHEST) * APART for n, _ in enumerate(later, 1)])
    waiting = {effect.id for effect in later}
    return [effect for effect in effects if effect.id not in waiting]
