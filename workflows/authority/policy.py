"""The starter policy: decides on present facts whether one act may leave. Pure; asked in the dispatch transaction.

1. `forbidden` denies, whoever asks.
2. Compensations of own effects are allowed: whoever could do it may undo it.
3. The tool must be on the agent's list, and the agent active.
4. Untrusted and writing, or `autonomy: ask`, asks for an approval.
5. Trusted and `auto` is allowed. The rest is denied.
"""

from __future__ import annotations

from typing import Any, Protocol

from workflows.authority.verdict import ALLOW, ASK, DENY, Verdict

__all__ = ["ALLOW", "ASK", "DENY", "Verdict", "decide", "in_force_name"]

NAME = "starter v1"
APPROVER = "approver"


class Agentlike(Protocol):
    name: str
    active: bool

    def may_use_tool(self, name: str) -> bool: ...


def verdict_of(word: str, rule: str, reason: str = "", approvers: str = "") -> Verdict:
    return Verdict(word, rule, reason, approvers, policy=NAME)


def decide(*, agent: Agentlike, tool: str, profile: dict[str, Any], kind: str) -> Verdict:
    if profile["autonomy"] == "forbidden":
        return verdict_of(DENY, "forbidden", f"{tool} is declared forbidden")
    if kind == "compensation":
        return verdict_of(ALLOW, "compensates-own-effect")
    if not agent.active:
        return verdict_of(DENY, "agent-inactive", f"agent {agent.name} is switched off")
    if not agent.may_use_tool(tool):
        return verdict_of(DENY, "not-granted", f"{tool} is not among the tools of agent {agent.name}")
    if profile["autonomy"] == "ask":
        return verdict_of(ASK, "asks", f"{tool} is declared to ask", APPROVER)
    if profile["environment"] == "untrusted" and profile["access"] != "read_only":
        return verdict_of(ASK, "untrusted-write", f"{tool} writes where it isn't trusted", APPROVER)
    return verdict_of(ALLOW, "trusted-auto")


def in_force_name() -> str:
    return NAME
