"""What of the ledger can be read as plain records: per model its columns, its order, and what it can be narrowed by.

Nothing here writes: people act through the repairs' verbs. `repairs.records` shows these on the console's own site.
"""

from __future__ import annotations

import dataclasses

from django.db import models

from workflows.models import (
    Agent,
    AgentAct,
    AgentKey,
    Approval,
    ApprovalVote,
    Attempt,
    Checkpoint,
    Credential,
    Decision,
    Effect,
    Entry,
    Look,
    Policy,
    Run,
    ScopeHold,
    Step,
    Stop,
    Team,
    Tool,
    ToolAct,
    Workflow,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`columns` of the list; `order` is unique and indexed; `narrow` names indexed columns; `secret` is never
    shown; `moment`: a column of the list by which it can be narrowed to today, where ids tell when rows were made."""

    model: type[models.Model]
    columns: tuple[str, ...]
    order: tuple[str, ...] = ("-id",)
    narrow: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    moment: str = ""


RECORDS = (
    Shown(
        model=Agent,
        columns=("name", "team", "on_behalf_of", "active", "tools", "workflows", "created_at"),
        order=("name",),
    ),
    Shown(
        model=AgentKey,
        columns=("prefix", "agent_id", "created_at", "expires_at", "revoked_at", "last_used_at"),
        order=("prefix",),
        narrow=("agent_id",),
        secret=("digest",),
    ),
    Shown(model=AgentAct, columns=("id", "agent_id", "what", "by", "why", "at"), narrow=("agent_id",)),
    Shown(model=Team, columns=("name", "parent_id", "created_at"), order=("name",)),
    Shown(
        model=Tool, columns=("name", "version", "kind", "owner", "current", "applied_at"), order=("name", "-version")
    ),
    Shown(model=Workflow, columns=("name", "version", "owner", "current", "applied_at"), order=("name", "-version")),
    Shown(
        model=Run,
        columns=("id", "state", "phase", "subject_type", "subject_id", "external_id", "created_at", "ended_at"),
        narrow=("agent_id", "external_id"),
        moment="created_at",
    ),
    Shown(model=Step, columns=("id", "name", "state", "run_id", "tool_id", "created_at"), narrow=("run_id",)),
    Shown(
        model=Effect,
        columns=("id", "kind", "state", "world", "reason", "run_id", "attempts", "created_at", "changed_at"),
        narrow=("run_id", "key"),
        moment="created_at",
    ),
    Shown(
        model=Attempt,
        columns=("id", "effect_id", "number", "outcome", "reason", "started_at", "ended_at"),
        narrow=("effect_id",),
    ),
    Shown(
        model=Look,
        columns=("id", "effect_id", "verdict", "reached", "counted", "reason", "begun_at", "ended_at"),
        narrow=("effect_id",),
    ),
    Shown(model=Decision, columns=("id", "act", "verdict", "rule", "reason", "agent_id", "at"), narrow=("effect_id",)),
    Shown(
        model=Entry,
        columns=("id", "subject_kind", "subject_id", "seq", "event", "before", "after", "actor", "at"),
        narrow=("subject_id", "run_id"),
    ),
    Shown(model=Checkpoint, columns=("id", "at", "upto", "entries", "hash")),
    Shown(model=ScopeHold, columns=("scope", "effect_id", "since"), order=("scope",)),
    Shown(
        model=Stop, columns=("id", "target", "name", "state", "reason", "frozen_by", "frozen_at", "until", "lifted_by")
    ),
    Shown(
        model=Policy,
        columns=("id", "name", "version", "state", "drafted_by", "activated_by", "active_from"),
    ),
    Shown(
        model=Approval,
        columns=("id", "tool", "act", "state", "void_reason", "reason", "needed", "asked_at", "expires_at"),
        narrow=("effect_id",),
    ),
    Shown(
        model=ApprovalVote,
        columns=("id", "approval_id", "by_id", "verdict", "why", "at", "alone"),
        narrow=("approval_id",),
    ),
    Shown(model=ToolAct, columns=("id", "tool_id", "what", "by", "why", "at"), narrow=("tool_id",)),
    Shown(
        model=Credential,
        columns=("name", "state", "owner", "grant", "generation", "expires_at", "why"),
        order=("name",),
        secret=("sealed",),
    ),
)
