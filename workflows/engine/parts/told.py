"""When an effect is looked at because a message named it, and how a look that is under way learns that one came.

A message begins no second look beside one that is under way: however slow that is, its worker counts as alive.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection

from django.db.models import Max

from workflows.engine.parts.door import WHILE_LOOKING
from workflows.models import Effect, Look
from workflows.states import REST, EffectState

# Seconds between looks at one effect because of messages, however many come. What waits for a look is told of by
# several messages within a moment, and a miss in each must not use up its looks; what is settled has time.
PACE, PACE_AT_REST = 1.0, 60.0
MARK = dt.timedelta(microseconds=1)


def overdue_at(now: dt.datetime) -> dt.datetime:
    """When a look that begins now is overdue; of an odd number of microseconds, so that a mark can be seen in it."""
    until = now + dt.timedelta(seconds=WHILE_LOOKING)
    return until.replace(microsecond=until.microsecond | 1)


def due(effect: Effect, looked: dt.datetime | None, now: dt.datetime) -> dt.datetime:
    """`looked`: when the last look at it began that came back."""
    pace = dt.timedelta(seconds=PACE_AT_REST if at_rest(effect) else PACE)
    return max(now, looked + pace) if looked is not None and _since(effect, looked) else now


def under_way(effect: Effect, now: dt.datetime) -> bool:
    return bool(effect.holder and effect.unseen) and effect.due_at is not None and effect.due_at > now


def marked(effect: Effect) -> dt.datetime:
    """The end of the look under way, with the mark; the same where it has one already."""
    assert effect.due_at is not None
    return effect.due_at - MARK if effect.due_at.microsecond % 2 else effect.due_at


def came(effect: Effect, began: Effect) -> bool:
    """Whether a message came since the look that began with this one."""
    return effect.due_at is not None and began.due_at is not None and effect.due_at == began.due_at - MARK


def last_looks(effects: Collection[uuid.UUID]) -> dict[uuid.UUID, dt.datetime]:
    if not effects:
        return {}
    seen = Look.objects.filter(effect__in=effects).order_by().values_list("effect_id").annotate(Max("begun_at"))
    return dict(seen)


def at_rest(effect: Effect) -> bool:
    return effect.state == EffectState.VERIFIED or effect.state in REST


def _since(effect: Effect, looked: dt.datetime) -> bool:
    """Whether it was looked at since it came to where it is: the look that settled it was no message's."""
    return effect.progress_at is None or looked > effect.progress_at
