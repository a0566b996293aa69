"""Checks that a policy's own examples hold: what its author expects is tried before it can be active."""

from __future__ import annotations

import dataclasses

from workflows.authority.policy import facts
from workflows.authority.policy.document import Checked
from workflows.authority.verdict import Verdict
from workflows.errors import Flaw


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """One example: what was expected, and what the policy says."""

    name: str
    verdict: str
    rule: str
    got: Verdict
    holds: bool

    @property
    def wanted(self) -> str:
        return f"{self.verdict} by {self.rule}" if self.rule else self.verdict


def tried(checked: Checked) -> list[Tried]:
    """Each example of the document, in its order."""
    found = []
    for number, example in enumerate(checked.shape.expect, 1):
        got = checked.ruled.decide(facts.example(example.facts))
        holds = got.verdict == example.verdict and example.rule in (None, got.rule)
        found.append(Tried(example.name or f"example {number}", example.verdict, example.rule or "", got, holds))
    return found


def flaws(checked: Checked) -> list[Flaw]:
    """What keeps it from being active: examples that don't hold or speak of unknown facts, or none at all."""
    if not checked.shape.expect:
        message = "is missing; give at least one example with its facts and the verdict that you expect"
        return [checked.document.flaw(("expect",), None, message)]
    found: list[Flaw] = []
    for number, (example, one) in enumerate(zip(checked.shape.expect, tried(checked), strict=True)):
        where = ("expect", number)
        strange = [name for name in example.facts if name not in facts.NAMES]
        strange += [
            f"{root}.{name}"
            for root, value in example.facts.items()
            if isinstance(value, dict) and (known := facts.NAMES.get(root)) is not None
            for name in value
            if name not in known
        ]
        if strange:
            message = f"is no fact; there are {', '.join(sorted(facts.NAMES))}"
            found.append(checked.document.flaw((*where, "facts", *strange[0].split(".")), strange[0], message))
        elif not one.holds:
            said = f"{one.got.verdict} by {one.got.rule}" + (f" ({one.got.reason})" if one.got.reason else "")
            found.append(checked.document.flaw((*where, "verdict"), one.wanted, f"{one.name}: the policy says {said}"))
    return found
