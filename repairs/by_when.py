"""A case's moments as its page shows them: by when what must be done, the nearest first, and what is over already."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Sequence

from repairs.models import Case
from repairs.words.facts import EffectFacts, Reason
from repairs.words.limits import HURTS, HURTS_NOW, Limit, limits
from repairs.words.marked import _
from repairs.worklist import NEAR

MOST = 8  # of an act on many things each may have a moment; the others stand on the pages of their effects


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """`of`: a step's name, "" for the case itself. `still`: its time stands still, so that it doesn't come nearer."""

    at: dt.datetime
    of: str
    words: str
    over: bool
    still: bool = False
    soon: bool = False  # within the hour, as the queue counts


def by_when(case: Case, facts: Sequence[EffectFacts], reasons: Sequence[Reason], now: dt.datetime) -> list[Moment]:
    """The nearest ahead first, then what is over; the case's own deadline is always among them."""
    if not case.live:
        return []
    told = [*limits(reasons, facts), *([Limit(case.hurts_at, "", HURTS, HURTS_NOW)] if case.hurts_at else [])]
    moments = sorted((moment(one, now) for one in told), key=lambda one: (one.over, one.at))
    return sorted([*moments[:MOST], due(case, now)], key=lambda one: (one.over, one.at))


def moment(limit: Limit, now: dt.datetime) -> Moment:
    over = limit.at <= now
    return Moment(limit.at, limit.of, limit.over if over else limit.then, over, soon=now < limit.at <= now + NEAR)


def due(case: Case, now: dt.datetime) -> Moment:
    """The time in which it is to be put right, and how long that stood still."""
    at, over = case.due_at(now), case.due_at(now) <= now
    paused = case.paused + (now - case.paused_since if case.paused_since else dt.timedelta())
    words = _("it should have been put right") if over else _("it is to be put right")
    if case.paused_since:
        words = _("{due}; its time stands still while the customer is waited for", due=words)
    if minutes := int(paused.total_seconds() // 60):
        words = _("{due}; it stood still for {hours} h so far", due=words, hours=f"{minutes // 60}:{minutes % 60:02d}")
    return Moment(at, "", words, over, still=case.paused_since is not None)
