"""One request for the acts of many effects, and each one's own outcome out of its answer. For the kind http."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from workflows.outcomes import NotSent, Outcome, Refused, Unknown
from workflows.tools import environment, expressions
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import judging
from workflows.tools.http.answers import names_of, said, worded
from workflows.tools.http.attempt import attempt, hidden, unmade
from workflows.tools.http.requests import prepare, without_floats
from workflows.tools.keeping import excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workflows.tools.call import Call
    from workflows.tools.http.attempt import Evidence
    from workflows.tools.wire import Answer


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """One effect's part of the request."""

    call: Call
    names: dict[str, Any]
    content: Any


def send(part: Mapping[str, Any], given: Sequence[tuple[Call, dict[str, Any]]]) -> list[Outcome]:
    """The outcome of each call, in their order. `part`: the tool's execute with what the judge needs.

    1. An item that can't be made doesn't keep the others.
    2. What was said of the whole holds for each; refused for good as one of several, each is tried alone.
    3. An item that the answer doesn't name, or names twice, is unknown. Their order says nothing.
    """
    items, outcomes = _items(part, given)
    if items:
        for item, outcome in zip(items, _sent(part, items), strict=True):
            outcomes[item.call.key] = outcome
    return [outcomes[call.key] for call, _ in given]


def _items(
    part: Mapping[str, Any], given: Sequence[tuple[Call, dict[str, Any]]]
) -> tuple[list[Item], dict[str, Outcome]]:
    items, unmakeable = [], dict[str, Outcome]()
    for call, names in given:
        try:
            content = fill(part["json"], names, "json", with_secrets=True)
            if part["exact"]:
                without_floats(content)
            items.append(Item(call, names, content))
        except ExpressionError as error:
            unmakeable[call.key] = unmade("item", error)
    return items, unmakeable


def _sent(part: Mapping[str, Any], items: Sequence[Item]) -> list[Outcome]:
    batch = part["batch"]
    names = {
        "items": [item.content for item in items],
        "env": environment.values(),
        "now": items[0].call.now,
    }
    try:
        tokens = items[0].call.tokens
        prepared = prepare({**part, "json": batch["json"]}, names, tokens=tokens, exact=part["exact"])
    except ExpressionError as error:
        return [unmade("request", error)] * len(items)
    whole = {"idempotency": part["idempotency"], **{n: t for n, t in batch.items() if n in ("temporary", "refused")}}
    whole |= {"unauthorized": part["unauthorized"]} if "unauthorized" in part else {}
    found = attempt(prepared, timeout=part["timeout"], means=lambda answer: judging.means(whole, answer, {}))
    if not isinstance(found, tuple):
        return [_of_one(found, len(items))] * len(items)
    answer, kept = found
    return [hidden(prepared, outcome) for outcome in _judged(part, items, answer, kept)]


def _of_one(outcome: NotSent | Refused | Unknown, many: int) -> Outcome:
    """The evidence of a broken answer may show what is others'."""
    evidence = {name: value for name, value in outcome.evidence.items() if name != "answer"}
    return dataclasses.replace(outcome, evidence={**evidence, "items": many})


def _judged(part: Mapping[str, Any], items: Sequence[Item], answer: Answer, kept: Evidence) -> list[Outcome]:
    batch, promise, names = part["batch"], part["idempotency"], names_of(answer)
    shown = {k: v for k, v in kept["answer"].items() if k in ("status", "headers", "address")}
    evidence = {**kept, "items": len(items), "answer": shown}
    alone = len(items) == 1
    told = said(answer, names) if alone else worded(names["body"])  # its raw text may show each what is others'
    words = f"status {answer.status}: {told}".removesuffix(": ")
    wait = judging.wait(answer, part["retry_within"])
    if judging.holds(promise.get("in_flight"), names):
        return [Unknown(reason=words, in_flight=True, retry_after=wait, evidence=evidence)] * len(items)
    if judging.holds(batch["temporary"], names):
        return [Refused(reason=words, temporary=True, retry_after=wait, evidence=evidence)] * len(items)
    if judging.holds(batch["refused"], names):
        if alone and judging.holds(promise.get("mismatch"), names):
            return [judging.mismatched(words, evidence)]
        reason = words if alone else f"the batch was refused, so each is tried alone: {words}"
        return [Refused(reason=reason, temporary=not alone, evidence=evidence)] * len(items)
    try:
        by_key = _by_key(batch, names)
    except ExpressionError as error:
        return [Unknown(reason=f"{words} ({error.path}: {error.message})", evidence=evidence)] * len(items)
    return [_one(part, item, by_key.get(item.call.key, []), answer, evidence) for item in items]


def _by_key(batch: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Each item's answers, by the key that they name. An item that names none is nobody's."""
    answers = expressions.compile(batch["answers"], names).run(names)
    if not isinstance(answers, list):
        raise ExpressionError(batch["answers"], str(answers)[:80], "is no list").at("answers")
    told: dict[str, list[Any]] = {}
    for answer in answers:
        try:
            key = expressions.compile(batch["by"], {**names, "item": answer}).run({**names, "item": answer})
        except ExpressionError:
            continue
        told.setdefault(str(key), []).append(answer)
    return told


def _one(part: Mapping[str, Any], item: Item, told: list[Any], answer: Answer, evidence: Evidence) -> Outcome:
    if len(told) != 1:
        reason = f"status {answer.status}: the answer names this item {len(told)} times"
        return Unknown(reason=reason.replace("0 times", "nowhere"), evidence=evidence)
    own = excerpt(json.dumps(told[0], ensure_ascii=False).encode("utf-8", "backslashreplace"))
    evidence = {**evidence, "answer": {**evidence["answer"], **own}}
    return judging.outcome(part, answer, {**item.names, "item": told[0]}, evidence, first_undoing=False)
