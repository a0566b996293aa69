"""The shape of a policy document: ordered rules, the first that holds decides, and examples that must hold."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from workflows.tools.manifest.fields import JsonMap, PositiveDuration, Strict, Text

MOST_RULES = 64
MOST_EXAMPLES = 200
MOST_APPROVERS = 20

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=60)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Login = Annotated[str, StringConstraints(min_length=1, max_length=150)]


class Ask(Strict):
    """`approvers`: a role, or logins; `count`: how many of them; `ttl`: how long they may."""

    approvers: Name | Annotated[list[Login], Field(min_length=1, max_length=MOST_APPROVERS)] = "approver"
    count: Annotated[int, Field(ge=1, le=MOST_APPROVERS)] = 1
    ttl: PositiveDuration = 86_400.0
    why: Reason | None = None


class Then(Strict):
    """Exactly one of the three."""

    allow: Literal[True] | None = None
    deny: Reason | None = None
    ask: Ask | None = None


def _word(value: Any) -> Any:
    return {"allow": True} if value == "allow" else value


Outcome = Annotated[Then, BeforeValidator(_word)]


class Cells(Strict):
    """What holds in each environment; both must be said."""

    trusted: Outcome
    untrusted: Outcome


class Matrix(Strict):
    """Access × environment, all six cells: nothing is permitted by having been left out."""

    read_only: Cells
    constrained_write: Cells
    write: Cells


class Rule(Strict):
    """Either `when` and `then`, or a `matrix`."""

    name: Name
    when: Text | None = None
    then: Outcome | None = None
    matrix: Matrix | None = None


class Example(Strict):
    """`facts`: what differs from the plain case (see `facts.PLAIN`)."""

    name: Annotated[str, StringConstraints(max_length=200)] = ""
    facts: JsonMap = {}
    verdict: Literal["allow", "ask", "deny"]
    rule: Name | None = None


class Shape(Strict):
    policy: Name
    rules: Annotated[list[Rule], Field(min_length=1, max_length=MOST_RULES)]
    expect: Annotated[list[Example], Field(max_length=MOST_EXAMPLES)] = []
