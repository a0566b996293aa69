"""What to check again before an act on a case: what may have changed, or may still come. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from repairs.words import clock
from repairs.words.facts import EffectFacts, Standing, standing
from repairs.words.marked import _
from repairs.words.seen import row
from workflows.states import IN_FLIGHT

OLD = dt.timedelta(minutes=10)  # what was seen before that may be otherwise by now
MOST = 6  # nobody checks more before an act


def checks(effects: Sequence[EffectFacts], now: dt.datetime) -> list[str]:
    """Sentences, what is most likely to surprise first. Nothing where all that is known is fresh."""
    return [said for effect in effects for said in (*under_way(effect), *may_come(effect, now))][:MOST] + [
        said for effect in effects for said in old(effect, now)
    ][:MOST]


def under_way(effect: EffectFacts) -> Iterator[str]:
    if effect.state in IN_FLIGHT:
        yield _("{name} is under way now: wait for what comes of it.", name=name(effect))


def may_come(effect: EffectFacts, now: dt.datetime) -> Iterator[str]:
    if effect.miss_from and now < effect.miss_from and standing(effect) is Standing.UNKNOWN:
        until = clock.said(effect.miss_from, "%H:%M:%S")
        told = _("{name} may still take effect: that a look before {until} misses it proves nothing.")
        yield told.given(name=name(effect), until=until)


def old(effect: EffectFacts, now: dt.datetime) -> Iterator[str]:
    seen = row(effect).at
    if effect.stuck and seen and now - seen > OLD:
        again = _("look again first") if effect.can_look else _("ask whoever can see it")
        told = _("What is known of {name} is of {at}: {again}.")
        yield told.given(name=name(effect), at=clock.said(seen), again=again)


def name(effect: EffectFacts) -> str:
    return _("the undoing of {step}", step=effect.step) if effect.undoing else effect.step
