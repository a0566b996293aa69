"""Where a run would have done something twice and didn't, each with the rows that prove it. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from repairs.words.facts import EffectFacts
from repairs.words.marked import _


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """`proof`: what a row is, the model it is a record of, and its id."""

    effect: str
    step: str
    undoing: bool
    says: str
    proof: tuple[tuple[str, str, str], ...] = ()


LOST = _("The answer to send {number} was lost. A look found it done; it was not sent again.")
ADOPTED = _("Before the first send a look found it there with our mark; it was taken over, not sent.")
MET = _("Before the first send a look found it there as asked, made by somebody else; nothing was sent.")
PROMISED = _(
    "It was sent {number} times under one key and can't be looked at: that it was done once is the provider's word."
)


def prevented(effects: Iterable[EffectFacts], sends: Mapping[str, Any]) -> list[Kept]:
    """What our own rows prove. `sends`: by effect, the last one, with `seen`: the look that found it done."""
    found = []
    for effect in effects:
        send = sends.get(effect.id)
        if send is not None and send.seen is not None:
            rows = (
                (_("send {number}", number=send.number), "attempt", str(send.id)),
                (_("the look"), "look", str(send.seen)),
            )
            found.append(kept(effect, LOST.given(number=send.number), *rows))
        elif effect.reason in ("adopted", "met") and not effect.attempts:
            found.append(kept(effect, ADOPTED if effect.reason == "adopted" else MET))
    return found


def promised(effects: Iterable[EffectFacts]) -> list[Kept]:
    """What only the provider's promise about our key speaks for; listed apart from what is proved."""
    return [
        kept(effect, PROMISED.given(number=effect.attempts))
        for effect in effects
        if effect.keyed
        and not effect.can_look
        and effect.attempts > 1
        and effect.send is not None
        and effect.send.outcome == "acknowledged"
    ]


def kept(effect: EffectFacts, says: str, *proof: tuple[str, str, str]) -> Kept:
    return Kept(effect=effect.id, step=effect.step, undoing=effect.undoing, says=says, proof=proof)
