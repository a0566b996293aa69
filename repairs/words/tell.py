"""What the customer must be told, as far as the facts say it: what they see that shouldn't be, or can't rely on."""

from __future__ import annotations

from collections.abc import Sequence

from repairs.words.facts import EffectFacts, Standing, standing
from repairs.words.marked import _
from workflows.states import EffectState


def must_tell(effects: Sequence[EffectFacts]) -> list[str]:
    """A sentence for each effect that the customer can see and that isn't as they were led to think."""
    return [said for effect in effects if effect.customer_visible and not effect.undoing and (said := _of(effect))]


def _of(effect: EffectFacts) -> str:
    what = effect.statement or _("{step} ({tool}) has no words for what it leaves.", step=effect.step, tool=effect.tool)
    match standing(effect):
        case Standing.UNKNOWN:
            return _("It is not known yet whether this is so: {what}", what=what)
        case Standing.DIFFERS:
            return _("This is not as it was asked for: {what}", what=what)
        case Standing.SEVERAL:
            return _("This is there more than once: {what}", what=what)
        case Standing.STANDS if effect.unwanted:
            return _("This still stands, and should not: {what}", what=what)
        case Standing.STANDS:
            return ""
        case Standing.ABSENT if effect.state == EffectState.UNDONE:
            return _("This was so, and was undone: {what}", what=what)
        case Standing.ABSENT:
            return ""
