"""Of one effect: what was wanted, what was seen outside, when, and how that is known. Facts only."""

from __future__ import annotations

import dataclasses
import datetime as dt

from repairs.words.facts import EffectFacts, LookFacts, SendFacts, Standing, standing, wanted_gone
from workflows.states import EffectState, World


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A line of the case's table of what is true outside. `at` is None where nothing was ever seen or answered."""

    wanted: str
    seen: str
    at: dt.datetime | None
    how: str


def row(effect: EffectFacts) -> Row:
    at, how = how_known(effect)
    return Row(wanted=wanted(effect), seen=seen(effect), at=at, how=how)


def wanted(effect: EffectFacts) -> str:
    if effect.read_only:
        return "an answer only; nothing outside"
    if effect.state == EffectState.CANCELLED:
        return "nothing: it was called off"
    if effect.stand_in:
        return "there, in place of an undoing"
    if wanted_gone(effect):
        return "gone"
    return "there, as asked"


def seen(effect: EffectFacts) -> str:
    if effect.read_only:
        return "nothing to see: it only reads"
    if effect.undoing:
        return seen_of_undoing(effect)
    match standing(effect):
        case Standing.STANDS if effect.state == EffectState.VERIFIED:
            return "there, ours, as asked"
        case Standing.STANDS:
            return "there"
        case Standing.DIFFERS:
            return "there, but not ours or not as asked"
        case Standing.SEVERAL:
            return "there more than once"
        case Standing.ABSENT:
            return "gone" if effect.world == World.GONE else "not there"
        case Standing.UNKNOWN:
            return doubt(effect)


def seen_of_undoing(effect: EffectFacts) -> str:
    match World(effect.world):
        case World.PRESENT if effect.stand_in:
            return "there; of what it stands in for, nothing is proved"
        case World.PRESENT | World.GONE:
            return "gone"
        case World.NOTHING if standing(effect) is Standing.STANDS:
            return "still there: not undone"
        case World.NOTHING:
            return "not undone"
        case World.DIFFERS:
            return "something is there, but not ours or not as we left it"
        case World.SEVERAL:
            return "there more than once"
        case World.UNKNOWN:
            return doubt(effect)


def doubt(effect: EffectFacts) -> str:
    """Nothing is proved; who last spoke, and whether a look can still tell."""
    match EffectState(effect.state):
        case EffectState.DISPATCHED:
            return "not known: a call is going on"
        case EffectState.PENDING:
            return "not known: the provider is still at it"
        case EffectState.ACKNOWLEDGED if effect.verifiable:
            return "not known: the provider said yes, and no look has shown it yet"
        case EffectState.ACKNOWLEDGED:
            return "not known: the provider said yes, and its tool has no way to look"
        case EffectState.UNDONE:
            return "not known: its undoing is settled, but no look has shown it gone"
        case _:
            return "not known"


def how_known(effect: EffectFacts) -> tuple[dt.datetime | None, str]:
    """The last look that reached the authority speaks; without one the last answer; without one nothing."""
    look, send = effect.look, effect.send
    if effect.state == EffectState.UNDONE:
        gone = effect.world == World.GONE
        return effect.changed_at, "a look at its undoing" if gone else "its undoing, which no look can prove"
    if look and look.reached and not (send and send.at > look.at):
        return look.at, by_look(look, undoing=effect.undoing and not effect.stand_in)
    if send:
        tail = "" if look is None or look.reached else "; since then no look reached the authority"
        return send.at, by_send(send) + tail
    if look:
        return look.at, by_look(look, undoing=effect.undoing)
    if effect.verified_at:
        return effect.verified_at, LOOKED["found"][effect.undoing]
    return None, "nothing was sent" if effect.attempts == 0 else "no answer was recorded"


# verdict -> (of a look at the effect, of a look at an undoing)
LOOKED = {
    "found": ("a look found it", "a look found it gone"),
    "absent": ("a look did not find it", "a look found it still there"),
    "differs": ("a look found it different", "a look found something else in its place"),
    "several": ("a look found more than one", "a look found more than one"),
    "inconclusive": ("a look gave no clear answer", "a look gave no clear answer"),
}
ANSWERED = {
    "": "a call was begun; no answer is recorded",
    "acknowledged": "the provider's word; nobody looked since",
    "pending": "the provider's word that it is at work",
    "refused": "the provider's refusal",
    "not_sent": "nothing left us",
    "unknown": "a call that ended without a clear answer",
    "in_flight": "the provider's word that an earlier call with the same key is still at work",
}


def by_look(look: LookFacts, *, undoing: bool = False) -> str:
    if not look.reached:
        return "a look could not reach the authority"
    if look.verdict not in LOOKED:
        return f"a look said {look.verdict!r}"
    early = ", too early to be believed" if look.verdict == "absent" and not look.counted else ""
    return LOOKED[look.verdict][undoing] + early


def by_send(send: SendFacts) -> str:
    return ANSWERED.get(send.outcome, f"a call ended {send.outcome!r}")
