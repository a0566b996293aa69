"""What a person may do next: the one safe act, and the others with the reason why each isn't. No guesses."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Sequence

from repairs.words import clock
from repairs.words.facts import EffectFacts, Reason, Standing, standing
from repairs.words.marked import _, listed
from repairs.words.possible import why_not_again
from repairs.words.sentence import PERSON, doer
from workflows.states import Kind

LOOK_AGAIN, WRITE_OFF, SEND_AGAIN, UNDO = "look_again", "write_off", "send_again", "undo"
TURN_BACK, WRITE_OFF_RUN = "turn_back", "write_off_run"
BY_HAND, WAIT, CLOSE = "by_hand", "wait", "close"

NAMES = {
    LOOK_AGAIN: _("Look again"),
    WRITE_OFF: _("Write off"),
    SEND_AGAIN: _("Send again"),
    UNDO: _("Undo"),
    TURN_BACK: _("Undo what stands"),
    WRITE_OFF_RUN: _("Write off the run"),
    BY_HAND: _("Settle by hand"),
    WAIT: _("Wait"),
    CLOSE: _("Close the case"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Advice:
    """An act and why. `effect` is "" where it is about the whole run."""

    act: str
    why: str
    effect: str = ""

    @property
    def name(self) -> str:
        return NAMES[self.act]


def next_safe_act(effects: Sequence[EffectFacts], reasons: Sequence[Reason] = ()) -> Advice:
    """The one act to take next.

    1. Looking, where a look alone may tell.
    2. Looking once somebody has put it right outside.
    3. Putting it right outside, where nothing can look.
    4. A decision about the run, where none of its effects is stuck.
    """
    stuck = [effect for effect in effects if effect.stuck]
    if not stuck:
        return of_the_run(reasons)
    for effect in stuck:
        if effect.can_look and not by_hand(effect):
            return Advice(LOOK_AGAIN, _("It only reads: nothing is sent, and what it shows is recorded."), effect.id)
    effect = next((e for e in stuck if e.can_look), stuck[0])
    what = by_hand(effect) or _("see at the provider what {doer} left", doer=doer(effect))
    owner = effect.owner or _("whoever owns the tool")
    if effect.can_look:
        why = _("First ask {owner} to {what}; then look again, which only reads.", owner=owner, what=what)
        return Advice(LOOK_AGAIN, why, effect.id)
    why = _(
        "Ask {owner} to {what}. Its tool has no way to look, so what they find goes into the reason of a write-off.",
        owner=owner,
        what=what,
    )
    return Advice(BY_HAND, why, effect.id)


def of_the_run(reasons: Sequence[Reason]) -> Advice:
    codes = {reason.code for reason in reasons}
    if codes & {"hold", "irreversible_happened"}:
        why = _("Decide whether what stands stays. If not, what can be undone is undone, in order, and looked at.")
        return Advice(TURN_BACK, why)
    if "no_compensation" in codes:
        why = _("No tool can undo it. Decide who tells the customer and what stays, then have a second person confirm.")
        return Advice(WRITE_OFF_RUN, why)
    if "budget" in codes:
        why = _(
            "Propose a higher limit under Tools, Budgets, and have a second person confirm; or let the run time out."
        )
        return Advice(BY_HAND, why)
    if codes == {PERSON}:
        why = _(
            "Read what they say, and see at the provider. A run that goes forward can be cancelled, or stopped where "
            "it is; make good by a remedy what is wrong; then close the case."
        )
        return Advice(BY_HAND, why)
    if "no_progress" in codes:
        why = _(
            "See on its page what it waits for, and by doctor whether workers run; it goes on by itself once it can."
        )
        return Advice(BY_HAND, why)
    if "engine_error" in codes:
        why = _("Ask an operator to read the log; the engine tries the run again as soon as something of it moves.")
        return Advice(BY_HAND, why)
    if Kind.REMEDY.value in codes:
        return Advice(WAIT, _("A remedy that a person asked for is on its way; what becomes of it appears here."))
    if "look_again" in codes:
        return Advice(WAIT, _("A look that a person asked for is under way; what it shows appears here."))
    return Advice(WAIT, _("No effect of this run is stuck now; the engine goes on by itself."))


def by_hand(effect: EffectFacts) -> str:
    """What somebody must do outside before another look can show anything new; "" where a look alone may."""
    match effect.reason:
        case (
            "refused"
            | "limits"
            | "window"
            | "no_result"
            | "not_undone"
            | "seen_absent"
            | "poll_failed"
            | "policy"
            | "not_sent"
            | "replayed"
        ):
            if effect.undoing:
                return _("undo it at the provider by hand")
            return _("do it at the provider by hand, or decide to leave it")
        case "no_compensation" | "irreversible_happened" | "hold":
            return _("decide what becomes of what stands")
        case "poison":
            return _("find out why its tool ends the worker that uses it, and mend the tool")
        case "several":
            return (
                _("remove what should be gone")
                if effect.undoing
                else _("keep one at the provider and remove the others")
            )
        case "disputed":
            return _("see how the dispute at the provider ends: paying back on top would pay twice")
        case "less_remains":
            return _("see who undid the other part, and agree to undo the rest")
        case "changed":
            return _("see who changed it since and what of it is still ours, and undo that at the provider by hand")
        case "reversed":
            return _("find out why it came back; then undo it once more, or settle it at the provider")
        case "gone":
            return _("find out who removed it, and do it anew at the provider or decide to leave it")
        case "differs" | "already_there":
            return _("find out whose it is and put it right at the provider")
        case "dependants":
            if effect.waits_for:
                return _("settle the later effects first ({which})", which=", ".join(effect.waits_for))
            return _("settle the later effects first")
        case _:
            return ""


def unsafe_acts(effect: EffectFacts, *, now: dt.datetime) -> list[Advice]:
    """Every act that a person may think of for a stuck effect and that isn't safe, or isn't possible, now."""
    if not effect.stuck:
        return []
    acts = []
    if not effect.can_look:
        acts.append(Advice(LOOK_AGAIN, _("Not possible: its tool declares no look."), effect.id))
    if why_not_again(effect, now):
        acts.append(Advice(SEND_AGAIN, send_again(effect, now), effect.id))
    if not effect.undoing:
        acts.append(Advice(UNDO, undo(effect), effect.id))
    acts.append(Advice(WRITE_OFF, write_off(effect), effect.id))
    return acts


def why_open(effects: Sequence[EffectFacts], reasons: Sequence[Reason]) -> Advice | None:
    """Why nobody may close the case now; None where a person may, since only a person's word keeps it open."""
    if {reason.code for reason in reasons} == {PERSON}:
        return None
    names = [_("the undoing of {step}", step=e.step) if e.undoing else e.step for e in effects if e.stuck]
    if not names:
        return Advice(CLOSE, _("It closes by itself once the run needs no decision of a person any more."))
    which = listed(names[:5])
    if len(names) > 5:
        which = _("{names} and {count} more", names=which, count=len(names) - 5)
    why = _("A person is needed for: {which}. It closes by itself once each is settled, or written off by two people.")
    return Advice(CLOSE, why.given(which=which))


def send_again(effect: EffectFacts, now: dt.datetime) -> str:
    """Why sending the same once more isn't safe."""
    match effect.reason:
        case "refused":
            return _("It was refused for good; the same request would ask for what was refused.")
        case "window":
            return _("The time in which its tool lets it be undone is over; a call now may do something else.")
        case "no_result":
            return _("The name of the thing at the provider is not known; a call could hit something else.")
        case "dependants":
            return _("Later effects of other runs stand on it; undoing it now would pull the ground from under them.")
        case "policy":
            return _("Policy does not allow it, and a person's act goes through the same policy.")
        case "already_there":
            return _("Something stands under this name that isn't ours; sending would make a second one or change it.")
        case "key_mismatch":
            return _("Our key came with another request before; it can't be sent again, and no other key is ever made.")
        case "replayed":
            return _("The provider keeps its failure under our key and would only say it again.")
        case "not_found" | "not_undone":
            return _("The provider said yes to it; what was acknowledged is never sent again, as it may still happen.")
        case _:
            return send_again_by_standing(effect, now)


def send_again_by_standing(effect: EffectFacts, now: dt.datetime) -> str:
    match standing(effect):
        case Standing.UNKNOWN:
            return twice(effect, now)
        case Standing.DIFFERS:
            return _("Something is there that isn't ours or isn't as asked; sending would change it or make another.")
        case Standing.SEVERAL:
            return (
                _("It is not clear which of them it would hit.")
                if effect.undoing
                else _("More than one is there already.")
            )
        case Standing.STANDS if not effect.undoing:
            return _("It stands already; sending again would do it twice.")
        case Standing.STANDS:
            return _("It was tried and did not undo it; nothing is known to have changed since.")
        case Standing.ABSENT if effect.undoing:
            return _("It is gone already; there is nothing to undo.")
        case Standing.ABSENT:
            return _("Nothing is there, and nothing is known to have changed since the last try.")


def twice(effect: EffectFacts, now: dt.datetime) -> str:
    """A second send where the first may have done it."""
    if effect.attempts == 0:
        return _("Nothing was sent yet, and it is not known what is there.")
    again = _("undo something else") if effect.undoing else _("do it twice")
    if not effect.keyed:
        return _(
            "It is not known whether it happened, and the provider knows no key of ours; a second send may {harm}.",
            harm=again,
        )
    if effect.key_until and now < effect.key_until:
        return _(
            "It is not known whether it happened; the provider remembers our key until {until}, so look first.",
            until=clock.said(effect.key_until),
        )
    return _(
        "It is not known whether it happened, and the provider may have forgotten our key; a second send may {harm}.",
        harm=again,
    )


def undo(effect: EffectFacts) -> str:
    if effect.remedy:
        return _("A remedy is undone by nothing but another remedy that a person asks for.")
    if not effect.can_undo:
        return _("Its tool declares no way to undo it.")
    match standing(effect):
        case Standing.UNKNOWN:
            return _("It is not known whether it happened; an undoing could hit nothing, or something else.")
        case Standing.DIFFERS:
            return _("What is there isn't ours or isn't as asked; an undoing could remove somebody else's.")
        case Standing.SEVERAL:
            return _("It is not clear which of them is ours; an undoing could remove the wrong one.")
        case Standing.ABSENT:
            return _("Nothing is there to undo.")
        case Standing.STANDS:
            return _("It is undone only when its run turns back, in the order that the run's steps ask for.")


def write_off(effect: EffectFacts) -> str:
    said = left(effect)
    if effect.customer_visible and standing(effect) is not Standing.ABSENT:
        return _("{what} The customer can see it.", what=said)
    return said


def left(effect: EffectFacts) -> str:
    match standing(effect):
        case Standing.UNKNOWN:
            return _("It ends the search while it is not known what is there.")
        case Standing.ABSENT if effect.undoing:
            return _("It changes nothing outside; a look would settle it with proof instead.")
        case Standing.ABSENT:
            return _("It leaves undone what was asked for.")
        case Standing.STANDS if effect.undoing or effect.unwanted:
            return _("It leaves in the world what should be gone.")
        case Standing.STANDS | Standing.DIFFERS | Standing.SEVERAL:
            return _("It leaves what is there as it is.")
