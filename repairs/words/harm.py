"""How bad a case is: the facts that order the queue, each with the sentence that says why. Pure."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Sequence

from repairs.words.facts import EffectFacts, Reason, Standing, standing
from repairs.words.limits import limits
from repairs.words.marked import _
from repairs.words.sentence import PERSON, find, harm_rank


class Harm(enum.StrEnum):
    """The groups of the queue, worst first."""

    UNKNOWN = "unknown"
    WRONG = "wrong"
    STANDS = "stands"
    HELD = "held"
    SAID = "said"
    ABSENT = "absent"


TITLES = {
    Harm.UNKNOWN: _("not known what is outside"),
    Harm.WRONG: _("something else, or more than one, is outside"),
    Harm.STANDS: _("stands outside, and should not or can't go on"),
    Harm.HELD: _("held half way"),
    Harm.SAID: _("said by a person to be wrong"),
    Harm.ABSENT: _("nothing outside"),
}

OF_STANDING = {
    Standing.UNKNOWN: Harm.UNKNOWN,
    Standing.SEVERAL: Harm.WRONG,
    Standing.DIFFERS: Harm.WRONG,
    Standing.STANDS: Harm.STANDS,
    Standing.ABSENT: Harm.ABSENT,
}

# Doubt and what can't be undone are looked into within a morning; the rest within the next working day.
SOON, LATER = dt.timedelta(hours=4), dt.timedelta(hours=24)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """`rank`: smaller is worse. `cutoff`: after it an act that is possible now isn't any more."""

    harm: Harm
    rank: int
    reason: str
    customers: int
    value: list[dict[str, int | str]]
    cutoff: dt.datetime | None
    cutoff_reason: str
    allowance: dt.timedelta


def weigh(reasons: Sequence[Reason], effects: Sequence[EffectFacts], *, now: dt.datetime) -> Weight:
    items = [effect for reason in reasons if (effect := find(reason, effects))]
    outside = [effect for effect in items if standing(effect) is not Standing.ABSENT and not effect.read_only]
    harm = worst(reasons, effects)
    final = any(effect.irreversible for effect in outside)
    seen = any(effect.customer_visible for effect in outside)
    cutoff, cutoff_reason = next_cutoff(reasons, effects, now)
    rank, reason = rank_of(harm, final=final, seen=seen)
    return Weight(
        harm=harm,
        rank=rank,
        reason=reason,
        customers=1 if seen else 0,
        value=sums(outside),
        cutoff=cutoff,
        cutoff_reason=cutoff_reason,
        allowance=SOON if rank <= 1 else LATER,
    )


def worst(reasons: Sequence[Reason], effects: Sequence[EffectFacts]) -> Harm:
    if not reasons:
        return Harm.ABSENT
    lead = min(reasons, key=lambda reason: harm_rank(find(reason, effects), reason))
    effect = find(lead, effects)
    if effect is None:
        return Harm.SAID if lead.code == PERSON else Harm.HELD
    return OF_STANDING[standing(effect)]


def rank_of(harm: Harm, *, final: bool, seen: bool) -> tuple[int, str]:
    """Not known and not to be undone first; then what customers see; then what stands; then what is merely open."""
    match harm:
        case Harm.UNKNOWN if seen:
            return 0, _("It is not known what is outside, and the customer can see it.")
        case Harm.UNKNOWN:
            return (0 if final else 1), _("It is not known what is outside.")
        case Harm.WRONG if seen:
            return 0, _("Something is outside that was not asked for, and the customer can see it.")
        case Harm.WRONG:
            return (0 if final else 1), _("Something is outside that was not asked for.")
        case Harm.STANDS if final and seen:
            return 1, _("Something that can't be undone has happened, and the customer can see it.")
        case Harm.STANDS if final:
            return 1, _("Something that can't be undone has happened.")
        case Harm.STANDS if seen:
            return 2, _("Something stands outside that needs a decision, and the customer can see it.")
        case Harm.STANDS:
            return 3, _("Something stands outside that needs a decision.")
        case Harm.HELD:
            return 3, _("The work stopped half way and waits for a decision.")
        case Harm.SAID:
            return 3, _("A person says that something is wrong.")
        case Harm.ABSENT:
            return 4, _("Nothing of it is outside.")


def next_cutoff(
    reasons: Sequence[Reason], effects: Sequence[EffectFacts], now: dt.datetime
) -> tuple[dt.datetime | None, str]:
    """The nearest moment ahead after which something that can be done now can't be done any more."""
    return next(((limit.at, limit.then) for limit in limits(reasons, effects) if limit.at > now), (None, ""))


def sums(effects: Sequence[EffectFacts]) -> list[dict[str, int | str]]:
    """Money out of place, per currency; never added across currencies. An undoing carries its effect's value once."""
    totals: dict[str, int] = {}
    for effect in effects:
        if effect.value:
            amount, currency = effect.value
            totals[currency] = totals.get(currency, 0) + amount
    return [{"amount": amount, "currency": currency} for currency, amount in sorted(totals.items())]
