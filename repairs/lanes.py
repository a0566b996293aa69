"""Draws a run in time: a lane per effect, a bar per send, a dot per look, a mark where it stands. Geometry only.

Time isn't to scale: a gap grows with its logarithm, so that milliseconds and hours fit one line; long ones are named.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import math
from collections.abc import Iterable, Sequence

from repairs.words import marks
from workflows.models import Attempt, Effect, Look
from workflows.visible import visible

WIDTH, LABEL, LANE, TOP, RIGHT = 1000, 150, 32, 22, 150
LONGEST = 24  # lanes drawn; the table below has all
NAMED = 60.0  # seconds from which a gap carries its length
GRAIN = 0.02  # seconds: what is closer together is drawn about as close as a mark is wide
SPLIT = 14  # label characters that fit beside the lanes

OUTCOMES = {
    "acknowledged": "good",
    "pending": "going",
    "in_flight": "going",
    "refused": "bad",
    "not_sent": "calm",
    "unknown": "doubt",
}
VERDICTS = {"found": "good", "absent": "calm", "differs": "bad", "several": "bad", "inconclusive": "doubt"}


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    x: float
    width: float
    tone: str
    hint: str


@dataclasses.dataclass(frozen=True, slots=True)
class Dot:
    x: float
    tone: str
    hint: str


@dataclasses.dataclass(frozen=True, slots=True)
class Lane:
    effect: Effect
    y: int
    label: str
    undoing: bool
    bars: list[Bar]
    dots: list[Dot]
    start: float
    end: float
    mark: marks.Mark


@dataclasses.dataclass(frozen=True, slots=True)
class Drawing:
    lanes: list[Lane]
    gaps: list[tuple[float, str]]
    height: int
    left_out: int
    width: int = WIDTH
    left: int = LABEL
    right: int = WIDTH - RIGHT


def draw(effects: Sequence[Effect], sends: Iterable[Attempt], looks: Iterable[Look]) -> Drawing | None:
    """None where nothing has been begun."""
    drawn = list(effects)[:LONGEST]
    if not drawn:
        return None
    ids = {effect.id for effect in drawn}
    sends = [send for send in sends if send.effect_id in ids]
    looks = [look for look in looks if look.effect_id in ids]
    scale = Scale(moments(drawn, sends, looks))
    lanes = [lane(effect, index, scale, sends, looks) for index, effect in enumerate(drawn)]
    return Drawing(lanes, scale.gaps(), TOP + LANE * len(lanes) + 8, len(effects) - len(drawn))


def moments(effects: Sequence[Effect], sends: Sequence[Attempt], looks: Sequence[Look]) -> list[dt.datetime]:
    found = {effect.created_at for effect in effects} | {effect.changed_at for effect in effects}
    found |= {send.started_at for send in sends} | {send.ended_at for send in sends if send.ended_at}
    return sorted(found | {look.ended_at for look in looks})


class Scale:
    """From a moment to a place: the gaps between moments, each by its logarithm, share the width."""

    def __init__(self, moments: Sequence[dt.datetime]) -> None:
        self.moments = moments
        self.seconds = [(b - a).total_seconds() for a, b in itertools.pairwise(moments)]
        weights = [math.log1p(seconds / GRAIN) for seconds in self.seconds]
        unit = (WIDTH - LABEL - RIGHT) / (sum(weights) or 1)
        self.places = [float(LABEL)]
        for weight in weights:
            self.places.append(self.places[-1] + weight * unit)
        self._place = dict(zip(moments, self.places, strict=True))

    def __call__(self, moment: dt.datetime) -> float:
        return round(self._place[moment], 1)

    def gaps(self) -> list[tuple[float, str]]:
        """The middle and the length of each gap that is long enough to be named, and wide enough to hold its name."""
        found = []
        for index, seconds in enumerate(self.seconds):
            left, right = self.places[index], self.places[index + 1]
            if seconds >= NAMED and right - left > 50:
                found.append((round((left + right) / 2, 1), length(seconds)))
        return found


def length(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def lane(effect: Effect, index: int, scale: Scale, sends: Sequence[Attempt], looks: Sequence[Look]) -> Lane:
    own_sends = [send for send in sends if send.effect_id == effect.id]
    own_looks = [look for look in looks if look.effect_id == effect.id]
    name = visible(effect.step.name)
    return Lane(
        effect=effect,
        y=TOP + LANE * index + LANE // 2,
        label=name if len(name) <= SPLIT else name[: SPLIT - 1] + "…",
        undoing=effect.compensates_id is not None,
        bars=[bar(send, scale) for send in own_sends],
        dots=[
            Dot(scale(look.ended_at), VERDICTS.get(look.verdict, "doubt"), f"look: {look.verdict}")
            for look in own_looks
        ],
        start=scale(effect.created_at),
        end=scale(effect.changed_at),
        mark=marks.mark("effect", effect.state),
    )


def bar(send: Attempt, scale: Scale) -> Bar:
    start = scale(send.started_at)
    width = max(scale(send.ended_at) - start, 4.0) if send.ended_at else 4.0
    outcome = send.outcome or "no answer yet"
    return Bar(start, round(width, 1), OUTCOMES.get(send.outcome, "doubt"), f"send {send.number}: {outcome}")
