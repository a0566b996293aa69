"""Who comes before whom: the graph of a run's steps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class Placed(Protocol):
    name: str
    ordinal: int
    after: list[str]


def ancestors(steps: Iterable[Placed]) -> dict[str, set[str]]:
    """For each step the names of all that it depends on, directly or not."""
    after: Mapping[str, list[str]] = {step.name: step.after for step in steps}
    known: dict[str, set[str]] = {}

    def of(name: str) -> set[str]:
        if name not in known:
            known[name] = set()  # a cycle can't be applied; this keeps a broken row from looping for ever
            known[name] = {a for parent in after.get(name, []) for a in (parent, *of(parent))}
        return known[name]

    for name in after:
        of(name)
    return known


def dependants(steps: Iterable[Placed]) -> dict[str, set[str]]:
    """For each step the names of all that depend on it, directly or not."""
    above = ancestors(steps)
    return {name: {other for other, names in above.items() if name in names} for name in above}


def before(step: Placed, steps: Iterable[Placed]) -> set[str]:
    """What the gate of an irreversible step waits for: the run's earlier steps that don't depend on it."""
    steps = list(steps)
    below = dependants(steps)[step.name]
    above = ancestors(steps)[step.name]
    return {s.name for s in steps if s.name in above or (s.ordinal < step.ordinal and s.name not in below)}
