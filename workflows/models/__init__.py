"""The nouns. One a file; nobody but `workflows.ledger` writes runs, steps and effects."""

from .agent import Agent, AgentAct, AgentKey
from .approval import Approval, ApprovalVote
from .attempt import Attempt
from .beat import Beat
from .budget import Budget, BudgetChange, Reservation, ToolCost
from .catalog import Tool, ToolAct, Workflow
from .credential import Credential
from .decision import Decision
from .demotion import Demotion
from .effect import Effect
from .gauge import Gauge
from .hook import Hook
from .install import Install
from .journal import Checkpoint, Entry, Payload
from .look import Look
from .policy import Policy
from .run import Run
from .scope import ScopeHold, ScopeUse
from .step import Step
from .stop import Stop
from .team import Team
from .wake import Wake

__all__ = [
    "Agent",
    "AgentAct",
    "AgentKey",
    "Approval",
    "ApprovalVote",
    "Attempt",
    "Beat",
    "Budget",
    "BudgetChange",
    "Checkpoint",
    "Credential",
    "Decision",
    "Demotion",
    "Effect",
    "Entry",
    "Gauge",
    "Hook",
    "Install",
    "Look",
    "Payload",
    "Policy",
    "Reservation",
    "Run",
    "ScopeHold",
    "ScopeUse",
    "Step",
    "Stop",
    "Team",
    "Tool",
    "ToolAct",
    "ToolCost",
    "Wake",
    "Workflow",
]
