"""Who gets a scope: one at a time, in order of epoch. Pure; `engine.dispatch` acts on it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any


def allot(
    effects: Iterable[Any], held: Mapping[str, uuid.UUID]
) -> tuple[list[Any], list[tuple[Any, list[tuple[str, uuid.UUID]]]]]:
    """(those that may go, those that wait with the scopes and the holders they wait for). `effects` in order of right.

    A compensation may take over what its forward effect holds, and a remedy what the effect holds that it makes good.
    """
    taken = dict(held)
    go, wait = [], []
    for effect in effects:
        mine = {effect.id, effect.compensates_id, effect.makes_good_id}
        busy = [(scope, taken[scope]) for scope in effect.scopes if scope in taken and taken[scope] not in mine]
        if busy:
            wait.append((effect, busy))
            continue
        go.append(effect)
        taken.update(dict.fromkeys(effect.scopes, effect.id))
    return go, wait
