"""What the policy says of one act: a value, made by the policy and read by dispatch and approvals."""

from __future__ import annotations

import dataclasses

ALLOW, ASK, DENY = "allow", "ask", "deny"
DAY = 86_400.0  # seconds


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """`approvers`: a role, or logins; `count`: how many must approve; `ttl`: seconds until nobody may any more;
    `policy`: name and version of who said so."""

    verdict: str
    rule: str
    reason: str = ""
    approvers: str | tuple[str, ...] = ""
    count: int = 1
    ttl: float = DAY
    policy: str = ""
    undecided: bool = False  # denied because a rule could not be decided

    @property
    def allowed(self) -> bool:
        return self.verdict == ALLOW
