"""Writes that an agent was denied something when it asked, in a commit that outlives the refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workflows import rows
from workflows.authority import grants, policy
from workflows.models import Agent, Decision

MOST_KEPT = 16_384  # characters of refused arguments: enough to see what was tried


def write(agent: Agent, *, act: str, verdict: policy.Verdict, facts: Mapping[str, Any] | None = None) -> None:
    """`facts`: those that the policy was asked with, where it was."""
    inputs: dict[str, Any] = {"tools_of_agent": agent.tools, "workflows_of_agent": agent.workflows}
    if facts is not None:
        inputs |= policy.facts.kept(facts)
        if len(json.dumps(facts["arguments"], default=str)) <= MOST_KEPT:
            inputs["arguments"] = facts["arguments"]
    rows.create(
        [
            Decision(
                agent_id=agent.id,
                act=act[:200],
                verdict=policy.DENY,
                policy=verdict.policy,
                rule=verdict.rule,
                reason=verdict.reason,
                inputs=inputs,
                at=rows.now(),
            )
        ]
    )


def not_granted(reason: str) -> policy.Verdict:
    return policy.Verdict(policy.DENY, grants.RULE, reason, policy=grants.NAME)
