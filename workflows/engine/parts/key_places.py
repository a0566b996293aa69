"""Where a key is one key: the endpoint, account or credential that a send goes to, by what its tool declares of keys.

The same text of a key in another place is another promise: nothing there remembers what was sent here. For dispatch and
whoever judges promises.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Sequence

from workflows.authority.sealing import print_of
from workflows.engine.parts.door import calls_of
from workflows.models import Attempt, Effect
from workflows.toolbox import tool_of

MAYBE_DONE = ("", "acknowledged", "pending", "unknown", "in_flight")  # outcomes after which a key may be remembered


def prints(effects: Sequence[Effect], now: dt.datetime) -> dict[uuid.UUID, str]:
    """A print of each one's place, as secrets are part of it; none where its tool declares no scope of keys. No
    statement where no tool does."""
    scoped = [e for e in effects if tool_of(e.tool).promise(e.operation).get("scope")]
    if not scoped:
        return {}
    places = [(e.id, tool.key_place(call)) for e, (tool, call) in zip(scoped, calls_of(scoped, now), strict=True)]
    return {pk: print_of(place) for pk, place in places if place}


def moved(effects: Sequence[Effect], now: dt.datetime) -> set[uuid.UUID]:
    """Those whose next send would go to another place than one whose end nobody knows."""
    present = prints(effects, now)
    if not present:
        return set()
    earlier = Attempt.objects.filter(effect_id__in=list(present), outcome__in=MAYBE_DONE).exclude(key_place="")
    return {pk for pk, place in earlier.values_list("effect_id", "key_place") if place != present[pk]}


def split(effects: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Those that were sent to more than one place: what became of that is no fault of the provider's."""
    sent = Attempt.objects.filter(effect_id__in=list(effects)).exclude(key_place="").order_by()
    places: dict[uuid.UUID, set[str]] = {}
    for pk, place in sent.values_list("effect_id", "key_place").distinct():
        places.setdefault(pk, set()).add(place)
    return {pk for pk, found in places.items() if len(found) > 1}
