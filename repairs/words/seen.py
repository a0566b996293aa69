"""Of one effect: what was wanted, what was seen outside, when, and how that is known. Facts only."""

from __future__ import annotations

import dataclasses
import datetime as dt

from repairs.words.facts import EffectFacts, LookFacts, SendFacts, Standing, standing, wanted_gone
from repairs.words.marked import _
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
        return _("an answer only; nothing outside")
    if effect.state == EffectState.CANCELLED:
        return _("nothing: it was called off")
    if effect.stand_in:
        return _("there, in place of an undoing")
    if wanted_gone(effect):
        return _("gone")
    return _("there, as asked")


def seen(effect: EffectFacts) -> str:
    if effect.read_only:
        return _("nothing to see: it only reads")
    if effect.undoing:
        return seen_of_undoing(effect)
    match standing(effect):
        case Standing.STANDS if effect.state == EffectState.VERIFIED:
            return _("there, ours, as asked")
        case Standing.STANDS:
            return _("there")
        case Standing.DIFFERS:
            return _("there, but not ours or not as asked")
        case Standing.SEVERAL:
            return _("there more than once")
        case Standing.ABSENT:
            return _("gone") if effect.world == World.GONE else _("not there")
        case Standing.UNKNOWN:
            return doubt(effect)


def seen_of_undoing(effect: EffectFacts) -> str:
    match World(effect.world):
        case World.PRESENT if effect.stand_in:
            return _("there; of what it stands in for, nothing is proved")
        case World.PRESENT | World.GONE:
            return _("gone")
        case World.NOTHING if standing(effect) is Standing.STANDS:
            return _("still there: not undone")
        case World.NOTHING:
            return _("not undone")
        case World.DIFFERS:
            return _("something is there, but not ours or not as we left it")
        case World.SEVERAL:
            return _("there more than once")
        case World.UNKNOWN:
            return doubt(effect)


def doubt(effect: EffectFacts) -> str:
    """Nothing is proved; who last spoke, and whether a look can still tell."""
    match EffectState(effect.state):
        case EffectState.DISPATCHED:
            return _("not known: a call is going on")
        case EffectState.PENDING:
            return _("not known: the provider is still at it")
        case EffectState.ACKNOWLEDGED if effect.verifiable:
            return _("not known: the provider said yes, and no look has shown it yet")
        case EffectState.ACKNOWLEDGED:
            return _("not known: the provider said yes, and its tool has no way to look")
        case EffectState.UNDONE:
            return _("not known: its undoing is settled, but no look has shown it gone")
        case _:
            return _("not known")


def how_known(effect: EffectFacts) -> tuple[dt.datetime | None, str]:
    """The last look that reached the authority speaks; without one the last answer; without one nothing."""
    look, send = effect.look, effect.send
    if effect.state == EffectState.UNDONE:
        gone = effect.world == World.GONE
        return effect.changed_at, _("a look at its undoing") if gone else _("its undoing, which no look can prove")
    if look and look.reached and not (send and send.at > look.at):
        return look.at, by_look(look, undoing=effect.undoing and not effect.stand_in)
    if send:
        said = by_send(send)
        if look and not look.reached:
            said = _("{how}; since then no look reached the authority", how=said)
        return send.at, said
    if look:
        return look.at, by_look(look, undoing=effect.undoing)
    if effect.verified_at:
        return effect.verified_at, LOOKED["found"][effect.undoing]
    return None, _("nothing was sent") if effect.attempts == 0 else _("no answer was recorded")


# verdict -> (of a look at the effect, of a look at an undoing)
LOOKED = {
    "found": (_("a look found it"), _("a look found it gone")),
    "absent": (_("a look did not find it"), _("a look found it still there")),
    "differs": (_("a look found it different"), _("a look found something else in its place")),
    "several": (_("a look found more than one"), _("a look found more than one")),
    "inconclusive": (_("a look gave no clear answer"), _("a look gave no clear answer")),
}
ANSWERED = {
    "": _("a call was begun; no answer is recorded"),
    "acknowledged": _("the provider's word; nobody looked since"),
    "pending": _("the provider's word that it is at work"),
    "refused": _("the provider's refusal"),
    "not_sent": _("nothing left us"),
    "unknown": _("a call that ended without a clear answer"),
    "in_flight": _("the provider's word that an earlier call with the same key is still at work"),
}


def by_look(look: LookFacts, *, undoing: bool = False) -> str:
    if not look.reached:
        return _("a look could not reach the authority")
    if look.verdict not in LOOKED:
        return _("a look said {verdict}", verdict=repr(look.verdict))
    said = LOOKED[look.verdict][undoing]
    early = look.verdict == "absent" and not look.counted
    return _("{look}, too early to be believed", look=said) if early else said


def by_send(send: SendFacts) -> str:
    return ANSWERED.get(send.outcome) or _("a call ended {outcome}", outcome=repr(send.outcome))
