"""Which acts a case's page offers, each with its name and what it does: for batches, by that page's words. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from repairs.words.advice import LOOK_AGAIN, TURN_BACK, next_safe_act, send_again
from repairs.words.facts import EffectFacts, Reason
from repairs.words.marked import _
from repairs.words.possible import UNDO_AGAIN, possible

Offers = dict[tuple[str, str], tuple[str, str]]


def offers(
    effects: Sequence[EffectFacts], reasons: Sequence[Reason], *, live: bool, going_on: bool, now: dt.datetime
) -> Offers:
    """By (act, effect; "" for the whole run). `going_on`: the run doesn't turn back."""
    found = {
        (act, effect.id): (name, does)
        for effect in effects
        for act, name, does in possible(effect, now=now, going_on=going_on)
    }
    advice = next_safe_act(effects, reasons) if live else None
    if advice and advice.act in (LOOK_AGAIN, TURN_BACK):
        found[advice.act, advice.effect] = (advice.name, advice.why)
    return found


def why_not(act: str, effects: Sequence[EffectFacts], reasons: Sequence[Reason], *, now: dt.datetime) -> str:
    """Why a live case's page doesn't offer to turn back, to send again, or to undo once more."""
    if act == TURN_BACK:
        return _("Its next safe act is another: {act}.", act=next_safe_act(effects, reasons).name)
    if act == UNDO_AGAIN:
        return _("Nothing of it was undone and is there again.")
    stuck = [effect for effect in effects if effect.stuck]
    if stuck:
        return send_again(stuck[0], now)
    return _("None of its effects is stuck; there is nothing to send again.")
