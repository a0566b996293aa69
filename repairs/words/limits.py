"""By when something must be done: keys that are forgotten, windows that close. Pure."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

from repairs.words.facts import EffectFacts, Reason, Standing, standing
from repairs.words.marked import _
from repairs.words.sentence import find


@dataclasses.dataclass(frozen=True, slots=True)
class Limit:
    """`then`: what isn't possible after it, as the reason of a cut-off; `over`: the same once it has passed."""

    at: dt.datetime
    of: str  # a step's name
    then: str
    over: str


KEY = (
    _("then the provider forgets our key"),
    _("the provider may have forgotten our key: a second send may be a new act"),
)
HURTS = _("then it hurts the customer, as a person said")
HURTS_NOW = _("it hurts the customer since, as a person said")
WINDOW = (_("then it can't be undone any more"), _("its tool can't undo it any more"))
UNDECIDED = frozenset({"hold", "irreversible_happened"})  # reasons of a run that waits for whether it turns back


def limits(reasons: Sequence[Reason], effects: Sequence[EffectFacts]) -> list[Limit]:
    """The nearest first: of the effects that need a person, and where the run waits for a decision, of all that could
    still be undone by it."""
    items = [effect for reason in reasons if (effect := find(reason, effects))]
    found = {*keys(items), *windows(items)}
    if any(reason.code in UNDECIDED for reason in reasons):
        found |= {*windows(effect for effect in effects if not effect.undoing and not effect.remedy)}
    return sorted(found, key=lambda limit: (limit.at, limit.of, limit.then))


def keys(effects: Iterable[EffectFacts]) -> Iterator[Limit]:
    for effect in effects:
        if effect.keyed and effect.key_until and effect.attempts and standing(effect) is Standing.UNKNOWN:
            yield Limit(effect.key_until, effect.step, *KEY)


def windows(effects: Iterable[EffectFacts]) -> Iterator[Limit]:
    for effect in effects:
        if effect.window_until and standing(effect) is not Standing.ABSENT:
            yield Limit(effect.window_until, effect.step, *WINDOW)
