"""What a hand-over says by itself: how grave the case is, and its summary, made from what was recorded. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from repairs.words.advice import next_safe_act
from repairs.words.facts import EffectFacts, Reason
from repairs.words.marked import _, ngettext
from repairs.words.seen import row

SEVERITIES = {
    "growing": _("the harm grows now"),
    "watch": _("it may get worse"),
    "steady": _("it stays as it is"),
}
MOST = 30  # effects of a summary; the case's table has all


def summary(
    facts: Sequence[EffectFacts], reasons: Sequence[Reason], deadline: dt.datetime, cutoff: dt.datetime | None, why: str
) -> list[str]:
    """One line an effect, what needs a person first; then what to do next and by when."""
    ranked = sorted(facts, key=lambda fact: not fact.stuck)
    lines = [line(fact) for fact in ranked[:MOST]]
    if len(ranked) > MOST:
        lines.append(ngettext("{count} more effect.", "{count} more effects.", len(ranked) - MOST))
    advice = next_safe_act(facts, reasons)
    lines.append(_("Next safe act: {act}. {why}", act=advice.name, why=advice.why))
    if cutoff:
        lines.append(_("Due {due}. Cut-off {cutoff}: {why}.", due=at(deadline), cutoff=at(cutoff), why=why))
    else:
        lines.append(_("Due {due}.", due=at(deadline)))
    return lines


def line(fact: EffectFacts) -> str:
    known = row(fact)
    told = {"name": _("undoing of {step}", step=fact.step) if fact.undoing else fact.step, "tool": fact.tool}
    told |= {"wanted": known.wanted, "seen": known.seen, "how": known.how}
    if known.at:
        return _("{name} ({tool}): wanted {wanted}; seen {seen} ({how}, {at}).", at=at(known.at), **told)
    return _("{name} ({tool}): wanted {wanted}; seen {seen} ({how}).", **told)


def at(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
