"""Draws a run in time: a lane per effect with its sends, looks and approvals, and one of the people. Geometry only.

Time isn't to scale: a gap grows with its logarithm, so that milliseconds and hours fit one line; long ones are named,
with what was waited for. `repairs.happened` says the same as a table.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import math
from collections.abc import Iterable, Sequence

from repairs.happened import Asked, Deed
from repairs.templatetags.console import length
from repairs.words import marks
from repairs.words.marked import Phrase, _
from workflows.models import Attempt, Effect, Look
from workflows.visible import visible

WIDTH, LABEL, LANE, TOP, RIGHT = 1000, 150, 32, 22, 150
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
    asked: list[Bar]
    start: float
    end: float
    mark: marks.Mark


@dataclasses.dataclass(frozen=True, slots=True)
class Drawing:
    lanes: list[Lane]
    people: list[Dot]
    people_y: int
    gaps: list[tuple[float, str]]
    height: int
    width: int = WIDTH
    left: int = LABEL
    right: int = WIDTH - RIGHT


def draw(
    effects: Sequence[Effect],
    sends: Sequence[Attempt],
    looks: Sequence[Look],
    asked: Sequence[Asked] = (),
    deeds: Sequence[Deed] = (),
) -> Drawing | None:
    """All of `effects` are drawn; the others belong to them. None where nothing has been begun."""
    if not effects:
        return None
    scale = Scale(moments(effects, sends, looks, asked, deeds))
    lanes = [lane(effect, index, scale, sends, looks, asked) for index, effect in enumerate(effects)]
    rows = len(lanes) + bool(deeds)
    return Drawing(
        lanes=lanes,
        people=[Dot(scale(deed.at), "people", _("{who} {what}", who=deed.who, what=deed.what)) for deed in deeds],
        people_y=TOP + LANE * len(lanes) + LANE // 2,
        gaps=scale.gaps(asked),
        height=TOP + LANE * rows + 8,
    )


def moments(
    effects: Sequence[Effect],
    sends: Sequence[Attempt],
    looks: Sequence[Look],
    asked: Sequence[Asked],
    deeds: Sequence[Deed],
) -> list[dt.datetime]:
    found = {effect.created_at for effect in effects} | {effect.changed_at for effect in effects}
    found |= {send.started_at for send in sends} | {send.ended_at for send in sends if send.ended_at}
    found |= {one.at for one in asked} | {one.until for one in asked if one.until} | {deed.at for deed in deeds}
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

    def gaps(self, asked: Sequence[Asked] = ()) -> list[tuple[float, str]]:
        """The middle and the name of each gap that is long enough to be named, and wide enough to hold its name."""
        found = []
        for index, seconds in enumerate(self.seconds):
            left, right = self.places[index], self.places[index + 1]
            if seconds >= NAMED and right - left > 50:
                waited = right - left > 110 and waits(asked, self.moments[index])
                span = length(seconds)
                found.append((round((left + right) / 2, 1), _("{span} on approval", span=span) if waited else span))
        return found


def waits(asked: Iterable[Asked], moment: dt.datetime) -> bool:
    """Whether people were being asked right after a moment."""
    return any(one.at <= moment and (one.until is None or one.until > moment) for one in asked)


def lane(
    effect: Effect,
    index: int,
    scale: Scale,
    sends: Sequence[Attempt],
    looks: Sequence[Look],
    asked: Sequence[Asked],
) -> Lane:
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
            Dot(
                scale(look.ended_at),
                VERDICTS.get(look.verdict, "doubt"),
                _("look: {verdict}", verdict=Phrase(look.verdict)),
            )
            for look in own_looks
        ],
        asked=[question(one, scale) for one in asked if one.effect == effect.id],
        start=scale(effect.created_at),
        end=scale(effect.changed_at),
        mark=marks.mark("effect", effect.state),
    )


def bar(send: Attempt, scale: Scale) -> Bar:
    start = scale(send.started_at)
    width = max(scale(send.ended_at) - start, 4.0) if send.ended_at else 4.0
    outcome = Phrase(send.outcome) or _("no answer yet")
    return Bar(
        start,
        round(width, 1),
        OUTCOMES.get(send.outcome, "doubt"),
        _("send {number}: {answer}", number=send.number, answer=outcome),
    )


def question(one: Asked, scale: Scale) -> Bar:
    """While people were asked; what nobody has decided yet reaches to the last moment drawn."""
    start = scale(one.at)
    end = scale(one.until) if one.until else scale.places[-1]
    return Bar(
        start,
        round(max(end - start, 4.0), 1),
        "asked",
        _("approval: {state}", state=marks.mark("approval", one.state).word),
    )
