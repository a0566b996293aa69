"""How people decide: of each, how many they approved, and how long they had the page open before. Pure.

Who approves everything within seconds has read nothing; the figures show it, with how many rows stand behind each.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import statistics
from collections.abc import Iterable

from repairs.words.verdicts import length

GLANCE = 5.0  # seconds: nobody reads a call in less
FEW = 20  # decisions below which a share says nothing


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """One vote. `looked`: seconds from opening the page to it; None where the page wasn't opened by this person."""

    who: str
    approved: bool
    looked: float | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """`median` of the `timed` ones, in seconds; None where there are none. `glances`: approvals within `GLANCE`."""

    who: str
    decided: int
    approved: int
    timed: int
    median: float | None
    glances: int

    @property
    def share(self) -> str:
        """In per cent, where enough were decided for that to say anything."""
        return f"{100 * self.approved / self.decided:.0f} %" if self.decided >= FEW else ""

    @property
    def typical(self) -> str:
        return length(self.median) if self.median is not None else ""

    @property
    def stamps(self) -> bool:
        """Whether it looks as if nothing was read: nearly all approved, and half of them at a glance."""
        return self.decided >= FEW and self.approved >= 0.95 * self.decided and 2 * self.glances >= self.approved


def watch(votes: Iterable[Said]) -> list[Watched]:
    """A line a person; who decided most stands first."""
    by: dict[str, list[Said]] = {}
    for vote in votes:
        by.setdefault(vote.who, []).append(vote)
    lines = [line(who, own) for who, own in by.items()]
    return sorted(lines, key=lambda one: (-one.decided, one.who))


def line(who: str, votes: list[Said]) -> Watched:
    times = [vote.looked for vote in votes if vote.looked is not None]
    return Watched(
        who=who,
        decided=len(votes),
        approved=sum(vote.approved for vote in votes),
        timed=len(times),
        median=statistics.median(times) if times else None,
        glances=sum(vote.approved and vote.looked is not None and vote.looked < GLANCE for vote in votes),
    )


def looked(opened_at: dt.datetime | None, at: dt.datetime) -> float | None:
    return max((at - opened_at).total_seconds(), 0.0) if opened_at else None
