"""Builds an effect's or a run's state anew from its entries alone, by the one table of moves. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from workflows.states import MOVES, EffectState

Entry = Mapping[str, Any]


@dataclasses.dataclass(slots=True)
class Rebuilt:
    """What the entries amount to. `trouble`: what no allowed life of a subject can be."""

    state: str = ""
    world: str = ""
    fence: int = 0
    sends: int = 0
    trouble: list[tuple[int, str]] = dataclasses.field(default_factory=list)  # (seq, what)


def effect(entries: Iterable[Entry]) -> Rebuilt:
    """An effect's life: `create`, then moves of the table, and notes that move nothing."""
    built = Rebuilt()
    for entry in entries:
        was = built.state
        _step(built, entry)
        if (entry["before"], entry["after"]) != (was, built.state):
            told = f"{entry['before'] or 'nothing'} to {entry['after']}"
            built.trouble.append((entry["seq"], f"{entry['event']} tells of {told}, but it led {was} to {built.state}"))
        _fence(built, entry)
        built.world = entry["world"]
    return built


def _step(built: Rebuilt, entry: Entry) -> None:
    event, was = entry["event"], built.state
    if event == "create" and not was:
        built.state = entry["after"]
    elif event in MOVES and was and EffectState(was) in MOVES[event].sources:
        built.state = MOVES[event].target.value
        built.sends += event == "dispatch"
    elif event != "note" or not was:
        built.trouble.append((entry["seq"], f"{event} can't come after {was or 'nothing'}"))
        built.state = entry["after"]  # so that one trouble isn't told of all that follows


def _fence(built: Rebuilt, entry: Entry) -> None:
    """It never falls, and each dispatch raises it."""
    if entry["fence"] < built.fence + (entry["event"] == "dispatch"):
        built.trouble.append((entry["seq"], f"the fence went from {built.fence} to {entry['fence']}"))
    built.fence = entry["fence"]


def run(entries: Iterable[Entry]) -> Rebuilt:
    """A run's life: each entry begins where the one before ended."""
    built = Rebuilt()
    for entry in entries:
        if entry["before"] != built.state:
            gap = (
                f"{entry['event']} begins at {entry['before'] or 'nothing'}, but the run was {built.state or 'nothing'}"
            )
            built.trouble.append((entry["seq"], gap))
        built.state = entry["after"]
    return built
