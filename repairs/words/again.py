"""Why a case was opened again, in a clause. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repairs.words.facts import EffectFacts, Reason
from repairs.words.reasons import because
from repairs.words.sentence import PERSON, cut, find, harm_rank

LONGEST = 300  # characters; the column's width


def why_again(reasons: Sequence[Reason], facts: Sequence[EffectFacts]) -> str:
    """Of the most harmful reason: what a person said, or what became of which effect."""
    lead = min(reasons, key=lambda reason: harm_rank(find(reason, facts), reason), default=None)
    if lead is None:
        return ""
    if lead.code == PERSON:
        return cut(lead.detail, LONGEST)
    effect = find(lead, facts)
    if effect is None:
        return cut(because(lead.code, undoing=True), LONGEST)
    name = f"the undoing of {effect.step}" if effect.undoing else effect.step
    return cut(f"{name}: {because(lead.code or effect.reason, undoing=effect.undoing)}", LONGEST)
