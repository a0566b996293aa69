"""Rules of a policy in words: when each holds and what it then says. Of the shapes that its author wrote; pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from repairs.words import traits, verdicts
from repairs.words.marked import _, listed

ENVIRONMENTS = ("trusted", "untrusted")
ACCESSES = (
    ("read_only", _("only reads")),
    ("constrained_write", _("writes within bounds")),
    ("write", _("writes")),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Says:
    """`word`: allow, ask or deny; `more`: whom it asks, or why it denies."""

    word: str
    more: str = ""

    @property
    def tone(self) -> str:
        return {"allow": "good", "ask": "doubt"}.get(self.word, "bad")

    @property
    def shape(self) -> str:
        return {"allow": "check", "ask": "person"}.get(self.word, "slash")


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A rule: `when` and what it `says`; or a matrix, row by row, whose `when` is what it does and where."""

    name: str
    when: str
    says: Says | None
    cells: Sequence[tuple[str, Says, Says]] = ()


def lines(rules: Sequence[Any]) -> list[Line]:
    """The rules in their order: the first that holds decides."""
    return [line(rule) for rule in rules]


def line(rule: Any) -> Line:
    if rule.matrix is None:
        return Line(rule.name, " ".join((rule.when or "").split()), says(rule.then))
    cells = []
    for access, words in ACCESSES:
        row = getattr(rule.matrix, access)
        cells.append((words, says(row.trusted), says(row.untrusted)))
    return Line(rule.name, "", None, cells)


def says(then: Any) -> Says:
    if getattr(then, "deny", None) is not None:
        return Says("deny", str(then.deny))
    ask = getattr(then, "ask", None)
    if ask is None:
        return Says("allow")
    told = verdicts.asked_of(ask.approvers)
    if ask.count > 1:
        told = _("{number} of {whom}", number=ask.count, whom=told)
    told = _("{whom}, for {time}", whom=told, time=traits.length(ask.ttl))
    return Says("ask", _("{whom}: {why}", whom=told, why=ask.why) if ask.why else told)


def changes(counts: Mapping[str, int]) -> str:
    """A dry run in a sentence. `counts`: how many decisions went from which verdict to which."""
    told = [words.given(number=counts[name]) for name, words in BECAME.items() if counts.get(name)]
    if not told:
        return _("It would have decided as was decided.")
    return _("It would have {done}.", done=listed(told))


BECAME = {
    "allow to deny": _("stopped {number}"),
    "ask to deny": _("denied {number} that were asked about"),
    "allow to ask": _("asked about {number} that went"),
    "deny to ask": _("asked about {number} that were denied"),
    "ask to allow": _("let {number} go unasked"),
    "deny to allow": _("allowed {number} more"),
}
