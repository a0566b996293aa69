"""The policy at the door: documents of CEL rules, checked whole, compiled once, asked with the facts of each act.

Pure but for `present`, which reads what is in force. `authority.policies` drafts, tries and activates versions.
"""

from workflows.authority.policy import facts
from workflows.authority.policy.document import LONGEST, Checked, check, digest_of
from workflows.authority.policy.examples import flaws, tried
from workflows.authority.policy.present import Present, compiled, decide, present
from workflows.authority.verdict import ALLOW, ASK, DENY, Verdict

__all__ = [
    "ALLOW", "ASK", "DENY", "LONGEST", "Checked", "Present", "Verdict", "check", "compiled", "decide", "digest_of",
    "facts", "flaws", "present", "tried",
]  # fmt: skip
