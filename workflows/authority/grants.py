"""Whether an agent's grants cover an act. Asked before the policy: no rule can give more than was granted. Pure.

1. A forward act needs `read` where it changes nothing, else `write`, as the grant is now.
2. Where the world is asked by a natural key before the send, it needs `verify` too.
3. A compensation needs `compensate` as it was granted when the forward effect was sent: what was taken from the agent
   since, or the agent's end, must not leave in the world what it did.
"""

from __future__ import annotations

from typing import Any

from workflows.authority.verdict import DENY, Verdict
from workflows.models.agent import Agent, Right

NAME, RULE = "grants", "not-granted"
COMPENSATION, FORWARD = "compensation", "forward"


def refused(agent: Agent, tool: str, profile: dict[str, Any], *, natural: bool = False) -> Verdict | None:
    """What the grants say against a forward act; None where they cover it."""
    if not agent.may_use_tool(tool):
        return _deny(f"{tool} is not among the tools of agent {agent.name}")
    has = agent.rights(tool)
    right = Right.READ if profile["effect_class"] == "read_only" else Right.WRITE
    if right not in has:
        has_words = ", ".join(has) or "nothing"
        return _deny(f"agent {agent.name} has no right to {right.value} with {tool}, only to {has_words}")
    if natural and Right.VERIFY not in has:
        return _deny(f"{tool} asks the world before it acts, and agent {agent.name} has no right to verify with it")
    return None


def refused_now(effect: Any, *, natural: bool) -> Verdict | None:
    """The same for an effect about to leave, whatever its kind. `effect` comes with agent, tool and what it undoes."""
    if effect.kind == COMPENSATION:
        of = effect.compensates
        if Right.COMPENSATE in of.granted.split():
            return None
        return _deny(f"agent {effect.agent.name} had no right to undo what {effect.tool.name} does when it was sent")
    if effect.kind != FORWARD:
        return None  # a person's act, of their own right
    return refused(effect.agent, effect.tool.name, effect.tool.profile, natural=natural)


def as_text(rights: tuple[str, ...]) -> str:
    """As an effect keeps them."""
    return " ".join(rights)


def _deny(reason: str) -> Verdict:
    return Verdict(DENY, RULE, reason, policy=NAME)
