"""A policy's text, read and checked whole: everything wrong is named with its line, nothing half-right is compiled."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

from workflows.authority.policy import facts
from workflows.authority.policy.rules import Rule, Ruled
from workflows.authority.policy.shape import Ask, Matrix, Outcome, Shape
from workflows.authority.policy.shape import Rule as RawRule
from workflows.authority.verdict import ALLOW, ASK, DENY, Verdict
from workflows.errors import Flaw, Invalid
from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError
from workflows.tools.manifest.shapes import model_of
from workflows.tools.reading import Document, read
from workflows.tools.reading.documents import Where

LONGEST = 64 * 1024  # characters: a policy that nobody can read through is none
DEEPEST = 8  # of the document; facts of examples included
MOST_FLAWS = 20
# Their cost isn't known before they run, or their library reads a text in exponential time.
NOT_HERE = {
    "matches": "patterns aren't taken in a policy; use startsWith, endsWith or contains",
    "duration": "isn't taken in a policy; compare numbers, such as run.age in seconds",
    "secret": "there are no secrets in a policy",
}
MATRIX_CELL = "profile.access == '{access}' && profile.environment == '{environment}'"


@dataclasses.dataclass(frozen=True, slots=True)
class Checked:
    """A sound document: `ruled` can be asked; `shape` is what the author wrote."""

    name: str
    text: str
    digest: str
    shape: Shape
    ruled: Ruled
    document: Document


def check(text: str, *, file: str = "policy.yaml", label: str = "") -> Checked:
    """The document, if all of it is sound. `label`: how decisions name it. Raises `Invalid` with placed flaws."""
    document = parsed(text, file)
    shape, flaws = model_of(Shape, document, (), document.value)
    if shape is None:
        raise Invalid(f"{file} is no policy", flaws[:MOST_FLAWS])
    rules: list[Rule] = []
    for number, raw in enumerate(shape.rules):
        try:
            rules += _rules(document, ("rules", number), raw, label or shape.policy)
        except Invalid as trouble:
            flaws += trouble.flaws
    flaws += _twice(document, shape)
    if flaws:
        raise Invalid(f"{file} is no policy", flaws[:MOST_FLAWS])
    return Checked(shape.policy, text, digest_of(text), shape, Ruled(label or shape.policy, rules), document)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parsed(text: str, file: str) -> Document:
    if len(text) > LONGEST:
        raise Invalid(f"{file} is no policy", [Flaw("", f"{len(text)} characters", f"at most {LONGEST} are taken")])
    document = read(file, text)
    if not isinstance(document.value, dict):
        raise Invalid(f"{file} is no policy", [document.flaw((), document.value, "must be a map of fields")])
    deep = next((where for where in document.places if len(where) > DEEPEST), None)
    if deep is not None:
        raise Invalid(f"{file} is no policy", [document.flaw(deep, "…", f"is nested deeper than {DEEPEST}")])
    return document


def _rules(document: Document, where: Where, raw: RawRule, label: str) -> Iterator[Rule]:
    if raw.matrix is not None:
        if raw.when is not None or raw.then is not None:
            _refuse(document, (*where, "matrix"), raw.name, "stands instead of when and then, not beside them")
        yield from _matrix(document, (*where, "matrix"), raw.name, raw.matrix, label)
        return
    if raw.when is None:
        _refuse(document, (*where, "when"), None, "is missing; write when: 'true' for all that came so far")
    if raw.then is None:
        _refuse(document, (*where, "then"), None, "is missing; it is allow, {deny: reason} or {ask: {...}}")
    assert raw.when is not None
    assert raw.then is not None
    condition = _compiled(document, (*where, "when"), raw.when)
    yield Rule(raw.name, condition, _verdict(document, (*where, "then"), raw.name, raw.then, label))


def _matrix(document: Document, where: Where, name: str, matrix: Matrix, label: str) -> Iterator[Rule]:
    for access in Matrix.model_fields:
        for environment in ("trusted", "untrusted"):
            outcome: Outcome = getattr(getattr(matrix, access), environment)
            when = expressions.compile(MATRIX_CELL.format(access=access, environment=environment), facts.NAMES)
            yield Rule(name, when, _verdict(document, (*where, access, environment), name, outcome, label))


def _compiled(document: Document, where: Where, text: str) -> expressions.Expression:
    try:
        expression = expressions.compile(text, facts.NAMES)
    except ExpressionError as trouble:
        raise Invalid("no rule", [document.flaw(where, text, trouble.message)]) from None
    for name, why in NOT_HERE.items():
        if name in expression.analysis.functions:
            _refuse(document, where, text, f"{name}() {why}")
    for path in expression.analysis.paths:
        known = facts.NAMES[str(path[0])]
        if known is not None and len(path) > 1 and isinstance(path[1], str) and path[1] not in known:
            _refuse(document, where, text, f"{path[0]} has no {path[1]}; it has {', '.join(sorted(known))}")
    return expression


def _verdict(document: Document, where: Where, name: str, outcome: Outcome, label: str) -> Verdict:
    if [outcome.allow, outcome.deny, outcome.ask].count(None) != 2:
        _refuse(document, where, None, "must be allow, {deny: reason} or {ask: {...}}")
    if outcome.allow:
        return Verdict(ALLOW, name, policy=label)
    if outcome.deny is not None:
        return Verdict(DENY, name, outcome.deny, policy=label)
    assert outcome.ask is not None
    return _ask(document, (*where, "ask"), name, outcome.ask, label)


def _ask(document: Document, where: Where, name: str, ask: Ask, label: str) -> Verdict:
    approvers = ask.approvers if isinstance(ask.approvers, str) else tuple(ask.approvers)
    if isinstance(approvers, tuple) and len(set(approvers)) < max(ask.count, len(approvers)):
        message = f"must be at most the {len(set(approvers))} different logins in approvers"
        _refuse(document, (*where, "count"), ask.count, message)
    return Verdict(ASK, name, ask.why or "", approvers, ask.count, ask.ttl, label)


def _twice(document: Document, shape: Shape) -> Iterator[Flaw]:
    """A name stands in decisions and approvals: it must say which rule it was."""
    seen: set[str] = set()
    for number, rule in enumerate(shape.rules):
        if rule.name in seen:
            yield document.flaw(("rules", number, "name"), rule.name, "is the name of an earlier rule too")
        seen.add(rule.name)
    for number, example in enumerate(shape.expect):
        if example.rule is not None and example.rule not in seen:
            yield document.flaw(("expect", number, "rule"), example.rule, "is no rule of this policy")


def _refuse(document: Document, where: Where, value: Any, message: str) -> None:
    raise Invalid("no rule", [document.flaw(where, value, message)])
