"""What happened in a run, in the order of time: sends, looks, questions to people, their words and acts.

The table twin of the drawing in `repairs.lanes`, from the same rows.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import uuid
from collections.abc import Iterable, Iterator, Sequence

from repairs.templatetags.console import length
from repairs.words import marks
from repairs.words.marked import _
from repairs.words.seen import LOOKED
from workflows.models import Attempt, Effect, Look

FIRST, LAST = 200, 50  # lines shown of the beginning, and of the end
FOLDED = 60.0  # seconds without anything from which a gap is a line of its own
BEGIN, MIDDLE, END = range(3)  # at one moment an effect is asked for first, and ends last

ANSWERED = {
    "": _("no answer is recorded"),
    "acknowledged": _("the provider said yes"),
    "pending": _("the provider took it on and goes on with it"),
    "refused": _("the provider refused"),
    "not_sent": _("nothing left us"),
    "unknown": _("it ended without a clear answer"),
    "in_flight": _("the provider is still at an earlier call with this key"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """People were asked about an effect; `until` is None while nobody has decided."""

    effect: uuid.UUID
    at: dt.datetime
    until: dt.datetime | None
    state: str
    of: str


@dataclasses.dataclass(frozen=True, slots=True)
class Deed:
    """What a person said or did; `effect` where it was about one."""

    at: dt.datetime
    who: str
    what: str
    effect: uuid.UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`gap`: how long nothing happened after the line before, in words; "" where that is short. `kind` is a lane;
    `after`: how long after the first line."""

    at: dt.datetime
    kind: str
    what: str
    effect: uuid.UUID | None = None
    step: str = ""
    undoing: bool = False
    lasted: str = ""
    who: str = ""
    gap: str = ""
    after: str = ""
    place: int = MIDDLE


def lines(
    effects: Iterable[Effect],
    sends: Iterable[Attempt],
    looks: Iterable[Look],
    asked: Sequence[Asked],
    deeds: Iterable[Deed],
) -> tuple[list[Line], list[Line], int]:
    """The first ones, the last ones, and how many lie between."""
    named = {effect.id: effect for effect in effects}
    found = sorted(told(named, sends, looks, asked, deeds), key=lambda line: (line.at, line.place))
    folded = found[:1] + [
        dataclasses.replace(line, gap=gap(before, line, asked), after=length((line.at - found[0].at).total_seconds()))
        for before, line in itertools.pairwise(found)
    ]
    if len(folded) <= FIRST + LAST:
        return folded, [], 0
    return folded[:FIRST], folded[-LAST:], len(folded) - FIRST - LAST


def told(
    named: dict[uuid.UUID, Effect],
    sends: Iterable[Attempt],
    looks: Iterable[Look],
    asked: Iterable[Asked],
    deeds: Iterable[Deed],
) -> Iterator[Line]:
    def line(at: dt.datetime, kind: str, what: str, of: uuid.UUID | None, lasted: str = "", who: str = "") -> Line:
        effect = named.get(of) if of else None
        step, undoing = (effect.step.name, effect.compensates_id is not None) if effect else ("", False)
        return Line(at=at, kind=kind, what=what, effect=of, step=step, undoing=undoing, lasted=lasted, who=who)

    for effect in named.values():
        begun = line(effect.created_at, "effect", _("asked for; its key is fixed"), effect.id)
        yield dataclasses.replace(begun, place=BEGIN)
        if effect.at_rest or effect.settled or effect.state == "stuck":
            ended = line(effect.changed_at, "effect", marks.mark("effect", effect.state).word, effect.id)
            yield dataclasses.replace(ended, place=END)
    for send in sends:
        took = length((send.ended_at - send.started_at).total_seconds()) if send.ended_at else ""
        answer = ANSWERED.get(send.outcome, send.outcome)
        yield line(
            send.started_at,
            "send",
            _("send {number}: {answer}", number=send.number, answer=answer),
            send.effect_id,
            took,
        )
    for look in looks:
        undoing = look.effect_id in named and named[look.effect_id].compensates_id is not None
        saw = (
            LOOKED[look.verdict][undoing]
            if look.verdict in LOOKED
            else _("a look said {verdict}", verdict=look.verdict)
        )
        took = length((look.ended_at - look.begun_at).total_seconds())
        yield line(look.ended_at, "look", saw if look.reached else _("a look reached nobody"), look.effect_id, took)
    for one in asked:
        yield line(one.at, "approval", _("asked: {whom}", whom=one.of), one.effect)
        if one.until:
            waited = length((one.until - one.at).total_seconds())
            yield line(one.until, "approval", marks.mark("approval", one.state).word, one.effect, waited)
    for deed in deeds:
        yield line(deed.at, "person", deed.what, deed.effect, who=deed.who)


def gap(before: Line, line: Line, asked: Iterable[Asked]) -> str:
    seconds = (line.at - before.at).total_seconds()
    if seconds < FOLDED:
        return ""
    waited = any(one.at <= before.at and (one.until is None or one.until > before.at) for one in asked)
    span = length(seconds)
    return _("{span} waiting on approval", span=span) if waited else _("{span} without anything", span=span)
