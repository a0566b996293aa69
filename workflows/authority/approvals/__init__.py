"""Approvals, the engine's side: asked for and spent at dispatch, decided by persons, ended by time."""

from workflows.authority.approvals.deciding import Vote, refuse, revoke, vote
from workflows.authority.approvals.dispatching import present, spend
from workflows.authority.approvals.ending import sweep
from workflows.authority.approvals.rights import asked_for, stand, why_not, why_not_refuse
from workflows.authority.approvals.target import changed_target, could_not_read, keep_target

__all__ = [
    "Vote", "asked_for", "changed_target", "could_not_read", "keep_target", "present", "refuse", "revoke", "spend",
    "stand", "sweep", "vote", "why_not", "why_not_refuse",
]  # fmt: skip
