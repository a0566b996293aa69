"""What a hand-over says by itself: how grave the case is, and its summary, made from what was recorded. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from repairs.words.advice import next_safe_act
from repairs.words.facts import EffectFacts, Reason
from repairs.words.seen import row

SEVERITIES = {
    "growing": "the harm grows now",
    "watch": "it may get worse",
    "steady": "it stays as it is",
}
MOST = 30  # effects of a summary; the case's table has all


def summary(
    facts: Sequence[EffectFacts], reasons: Sequence[Reason], deadline: dt.datetime, cutoff: dt.datetime | None, why: str
) -> list[str]:
    """One line an effect, what needs a person first; then what to do next and by when."""
    ranked = sorted(facts, key=lambda fact: not fact.stuck)
    lines = [line(fact) for fact in ranked[:MOST]]
    if len(ranked) > MOST:
        lines.append(f"{len(ranked) - MOST} more effects.")
    advice = next_safe_act(facts, reasons)
    lines.append(f"Next safe act: {advice.name}. {advice.why}")
    lines.append(f"Due {at(deadline)}." + (f" Cut-off {at(cutoff)}: {why}." if cutoff else ""))
    return lines


def line(fact: EffectFacts) -> str:
    known = row(fact)
    name = f"undoing of {fact.step}" if fact.undoing else fact.step
    seen = f", {at(known.at)}" if known.at else ""
    return f"{name} ({fact.tool}): wanted {known.wanted}; seen {known.seen} ({known.how}{seen})."


def at(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
