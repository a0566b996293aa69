"""What the customer must be told, as far as the facts say it: what they see that shouldn't be, or can't rely on."""

from __future__ import annotations

from collections.abc import Sequence

from repairs.words.facts import EffectFacts, Standing, standing
from workflows.states import EffectState


def must_tell(effects: Sequence[EffectFacts]) -> list[str]:
    """A sentence for each effect that the customer can see and that isn't as they were led to think."""
    return [said for effect in effects if effect.customer_visible and not effect.undoing and (said := _of(effect))]


def _of(effect: EffectFacts) -> str:
    what = effect.statement or f"{effect.step} ({effect.tool}) has no words for what it leaves."
    match standing(effect):
        case Standing.UNKNOWN:
            return f"It is not known yet whether this is so: {what}"
        case Standing.DIFFERS:
            return f"This is not as it was asked for: {what}"
        case Standing.SEVERAL:
            return f"This is there more than once: {what}"
        case Standing.STANDS if effect.unwanted:
            return f"This still stands, and should not: {what}"
        case Standing.STANDS:
            return ""
        case Standing.ABSENT if effect.state == EffectState.UNDONE:
            return f"This was so, and was undone: {what}"
        case Standing.ABSENT:
            return ""
