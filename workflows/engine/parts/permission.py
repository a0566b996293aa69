"""Asks the policy about each effect that is about to leave, on present facts, and writes down what it said."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from workflows.authority import approvals, budgets, ending, grants, policy, versions
from workflows.fetch import new
from workflows.models import Decision, Effect
from workflows.models.agent import ALL, Right
from workflows.toolbox import times_of


def ask(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> tuple[list[Effect], list[Decision]]:
    """(those that may leave, in their order; a decision for each effect). Denied ones end, others wait for persons;
    both are put into `stopped`."""
    if not effects:
        return [], []
    present = policy.present({effect.tool_id for effect in effects})
    left = budgets.facts(effects, now) if present.budgets else {}
    refusals = [grants.refused_now(e, natural=times_of(e).natural and not e.asked) for e in effects]
    facts = [
        policy.facts.of_effect(
            e, now, granted=no is None, current=e.tool_id not in present.superseded, budgets=left.get(e.id)
        )
        for e, no in zip(effects, refusals, strict=True)
    ]
    verdicts = [no or _verdict(e, present, some) for e, no, some in zip(effects, refusals, facts, strict=True)]
    held = _held(effects, verdicts, present, now, stopped)
    asking = [(e, v) for e, v in zip(effects, verdicts, strict=True) if v.verdict == policy.ASK and e.id not in held]
    may = {effect.id for effect in approvals.present(asking, now, stopped)}
    going = []
    for effect, verdict in zip(effects, verdicts, strict=True):
        if effect.id in held:
            continue
        if verdict.allowed or effect.id in may:
            going.append(effect)
        elif verdict.verdict == policy.DENY:
            _deny(effect, verdict, stopped)
    told = [_decision(e, v, f, now) for e, v, f in zip(effects, verdicts, facts, strict=True)]
    return going, told


def _held(
    effects: Sequence[Effect],
    verdicts: Sequence[policy.Verdict],
    present: policy.Present,
    now: dt.datetime,
    stopped: list[Effect],
) -> set[uuid.UUID]:
    """Those whose tool's version may not be called until a person decided; they wait, and say so."""
    found = set()
    for effect, verdict in zip(effects, verdicts, strict=True):
        if verdict.verdict == policy.DENY:
            continue
        if word := versions.trouble(effect, present, asks=verdict.verdict == policy.ASK):
            versions.hold(effect, word, now)
            stopped.append(effect)
            found.add(effect.id)
    return found


def _verdict(effect: Effect, present: policy.Present, facts: Mapping[str, Any]) -> policy.Verdict:
    if effect.forward:
        # What was made to be verified is looked at: without a look nobody could ever settle it.
        rights = set(effect.agent.rights(effect.tool.name)) | ({Right.VERIFY.value} if effect.verifiable else set())
        effect.granted = grants.as_text(tuple(right for right in ALL if right in rights))
    return policy.decide(present, facts)


def _deny(effect: Effect, verdict: policy.Verdict, stopped: list[Effect]) -> None:
    ending.end(effect, reason="policy", detail=verdict.reason)
    stopped.append(effect)


def _decision(effect: Effect, verdict: policy.Verdict, facts: Mapping[str, Any], now: dt.datetime) -> Decision:
    agent = effect.agent
    inputs = {
        **policy.facts.kept(facts),
        "digest": effect.digest,
        "attempt": effect.attempts + 1,
        "tools_of_agent": agent.tools,
        "granted": (effect.compensates or effect).granted,
    }
    word, reason = verdict.verdict, verdict.reason
    if effect.approval is not None:
        word, reason = policy.ALLOW, "persons approved it"
        inputs["approval"] = str(effect.approval.id)
    return new(
        Decision,
        agent_id=agent.id,
        effect_id=effect.id,
        act=f"{effect.kind} {effect.tool.name}"[:200],
        verdict=word,
        policy=verdict.policy,
        rule=verdict.rule,
        reason=reason,
        inputs=inputs,
        at=now,
    )
