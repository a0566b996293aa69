"""Writes that an agent was denied something when it asked, in a commit that outlives the refusal."""

from __future__ import annotations

from workflows import rows
from workflows.authority import policy
from workflows.models import Agent, Decision


def write(agent: Agent, *, act: str, reason: str, rule: str = "not-granted") -> None:
    rows.create(
        [
            Decision(
                agent_id=agent.id,
                act=act[:200],
                verdict=policy.DENY,
                policy=policy.NAME,
                rule=rule,
                reason=reason,
                inputs={"tools_of_agent": agent.tools, "workflows_of_agent": agent.workflows},
                at=rows.now(),
            )
        ]
    )
