"""The starter policy: decides on present facts whether one act may leave. Pure; asked in the dispatch transaction.

1. `forbidden` denies, whoever asks.
2. Compensations of own effects are allowed: whoever could do it may undo it.
3. The tool must be on the agent's list, and the agent active.
4. Untrusted and writing, or `autonomy: ask`, would need an approval; approvals don't exist yet, so it is denied.
5. Trusted and `auto` is allowed. The rest is denied.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

NAME = "starter v1"
ALLOW, DENY = "allow", "deny"


class Agentlike(Protocol):
    name: str
    active: bool

    def may_use_tool(self, name: str) -> bool: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    verdict: str
    rule: str
    reason: str = ""

    @property
    def allowed(self) -> bool:
        return self.verdict == ALLOW


def decide(*, agent: Agentlike, tool: str, profile: dict[str, Any], kind: str) -> Verdict:
    if profile["autonomy"] == "forbidden":
        return Verdict(DENY, "forbidden", f"{tool} is declared forbidden")
    if kind == "compensation":
        return Verdict(ALLOW, "compensates-own-effect")
    if not agent.active:
        return Verdict(DENY, "agent-inactive", f"agent {agent.name} is switched off")
    if not agent.may_use_tool(tool):
        return Verdict(DENY, "not-granted", f"{tool} is not among the tools of agent {agent.name}")
    if profile["autonomy"] == "ask":
        return Verdict(DENY, "asks", f"{tool} asks for an approval, and approvals can't be given yet")
    if profile["environment"] == "untrusted" and profile["access"] != "read_only":
        return Verdict(DENY, "untrusted-write", f"{tool} writes where it isn't trusted, which asks for an approval")
    return Verdict(ALLOW, "trusted-auto")
