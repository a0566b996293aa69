"""Compiled rules, asked with facts: the first that holds decides; none is a deny, and an error too, with its cause."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from workflows.authority.verdict import ASK, DENY, Verdict
from workflows.states import Kind
from workflows.tools.expressions import Expression, ExpressionError, Judge

# A decision stands in the dispatch transaction; this many copied values are about 5 ms.
MOST_WORK = 100_000
REMEMBERED = 1024  # verdicts by facts: most acts of an installation differ in nothing that its policy reads
FINAL_REMEDY, APPROVER = "final-remedy", "approver"  # the rule that no policy switches off, and the role it asks
LONGEST_REMEMBERED = 2000  # characters of the facts


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    name: str
    when: Expression
    verdict: Verdict


class Ruled:
    """One version's rules. Shared by threads: the only state is what was decided before on the same facts."""

    def __init__(self, label: str, rules: Sequence[Rule]) -> None:
        self.label, self.rules = label, tuple(rules)
        self._reads = _read_by([rule.when for rule in self.rules])
        self._judge = Judge([rule.when for rule in self.rules], most_work=MOST_WORK)
        self._known: dict[str, Verdict] = {}

    def decide(self, facts: Mapping[str, Any]) -> Verdict:
        verdict = self._ruled(facts)
        if verdict.allowed and _final_remedy(facts):
            return Verdict(ASK, FINAL_REMEDY, "a person asks for what can't be undone", APPROVER, policy=self.label)
        return verdict

    def _ruled(self, facts: Mapping[str, Any]) -> Verdict:
        read = self._read(facts)
        key = repr(read)  # tells 1, 1.0, true and "1" apart, as a dict's keys don't
        if (known := self._known.get(key)) is not None:
            return known
        verdict = self._decide(read)
        if len(key) <= LONGEST_REMEMBERED:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = verdict
        return verdict

    def _read(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Only what some rule reads: binding the rest would cost more than deciding."""
        found: dict[str, Any] = {}
        for root, names in self._reads:
            value = facts[root]
            found[root] = value if names is None or value is None else {n: value[n] for n in names if n in value}
        return found

    def _decide(self, read: Mapping[str, Any]) -> Verdict:
        try:
            asked = self._judge.over(read)
        except ExpressionError as trouble:
            return self._broken("facts", trouble)
        for number, rule in enumerate(self.rules):
            try:
                if asked.holds(number):
                    return rule.verdict
            except ExpressionError as trouble:
                return self._broken(rule.name, trouble)
        return Verdict(DENY, "no-rule", "no rule of the policy allows it", policy=self.label)

    def _broken(self, name: str, trouble: ExpressionError) -> Verdict:
        return Verdict(DENY, name, f"the rule can't be decided: {trouble.message}", policy=self.label, undecided=True)


def _final_remedy(facts: Mapping[str, Any]) -> bool:
    """No workflow and no gate stands behind a remedy: of one that can't be undone two persons must be sure, whatever
    rules allow."""
    return bool(facts["act"]["kind"] == Kind.REMEDY and facts["profile"]["effect_class"] == "irreversible")


def _read_by(expressions: Sequence[Expression]) -> tuple[tuple[str, tuple[str, ...] | None], ...]:
    """Each name with the fields that are read of it; None where all of it may be."""
    found: dict[str, set[str] | None] = {}
    for expression in expressions:
        for path in expression.analysis.paths:
            root, field = str(path[0]), path[1] if len(path) > 1 else None
            if not isinstance(field, str):
                found[root] = None
            elif (names := found.setdefault(root, set())) is not None:
                names.add(field)
    return tuple((root, None if names is None else tuple(sorted(names))) for root, names in sorted(found.items()))
