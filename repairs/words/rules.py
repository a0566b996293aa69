"""Rules of a policy in words: when each holds and what it then says. Of the shapes that its author wrote; pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from repairs.words import traits

ENVIRONMENTS = ("trusted", "untrusted")
ACCESSES = (("read_only", "only reads"), ("constrained_write", "writes within bounds"), ("write", "writes"))


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
    """A rule: `when` and what it `says`; or a matrix, row by row."""

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
    return Line(rule.name, "by what it does and where", None, cells)


def says(then: Any) -> Says:
    if getattr(then, "deny", None) is not None:
        return Says("deny", str(then.deny))
    ask = getattr(then, "ask", None)
    if ask is None:
        return Says("allow")
    whom = f"the role {ask.approvers}" if isinstance(ask.approvers, str) else ", ".join(ask.approvers)
    people = f"{ask.count} of " if ask.count > 1 else ""
    why = f": {ask.why}" if ask.why else ""
    return Says("ask", f"{people}{whom}, for {traits.length(ask.ttl)}{why}")


def changes(counts: Mapping[str, int]) -> str:
    """A dry run in a sentence. `counts`: how many decisions went from which verdict to which."""
    told = [words.format(counts[name]) for name, words in BECAME.items() if counts.get(name)]
    if not told:
        return "It would have decided as was decided."
    return f"It would have {', '.join(told)}."


BECAME = {
    "allow to deny": "stopped {}",
    "ask to deny": "denied {} that were asked about",
    "allow to ask": "asked about {} that went",
    "deny to ask": "asked about {} that were denied",
    "ask to allow": "let {} go unasked",
    "deny to allow": "allowed {} more",
}
