"""The one place where rows are looked up for a person: all of them, or what belongs to their teams' agents.

A row that isn't visible is not found, with the same words as one that never was.
"""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError, models
from django.http import Http404

from repairs.desk import Desk
from repairs.words.marked import _
from workflows.models import Decision, Run

M = TypeVar("M", bound=models.Model)

# From a model to the agent that its rows belong to.
AGENT_OF = {
    "workflows.Agent": "id",
    "workflows.AgentKey": "agent",
    "workflows.AgentAct": "agent",
    "workflows.Run": "agent",
    "workflows.Step": "run__agent",
    "workflows.Effect": "agent",
    "workflows.Attempt": "effect__agent",
    "workflows.Look": "effect__agent",
    "workflows.Decision": "agent",
    "workflows.ScopeHold": "effect__agent",
    "workflows.Approval": "agent",
    "workflows.ApprovalVote": "approval__agent",
    "repairs.Case": "agent",
    "repairs.Act": "case__agent",
    "repairs.Worked": "case__agent",
    "repairs.Evidence": "act__case__agent",
    "repairs.BatchItem": "case__agent",
    "repairs.Remark": "approval__agent",
}
# From a model to the team that its rows name themselves.
BY_TEAM = {"workflows.Team": "name", "repairs.Glass": "team"}
# Of the installation as a whole: declarations, rules and digests, which name no customer.
SHARED = frozenset(
    {"workflows.Tool", "workflows.Workflow", "workflows.Checkpoint", "workflows.Policy", "workflows.ToolAct"}
)
# Of all teams at once, or naming another's customer: as records only for who sees everything.
FOR_ALL_OR_NONE = frozenset({"workflows.Stop", "workflows.Credential", "repairs.PersonAct", "repairs.Batch"})
FEW = 2000  # runs
# From a model with rows for each send to the run that they belong to.
FOUND_BY = {
    "workflows.Step": "run",
    "workflows.Effect": "run",
    "workflows.Attempt": "effect__run",
    "workflows.Look": "effect__run",
    "workflows.Decision": "effect__run",
    "workflows.ScopeHold": "effect__run",
    "workflows.Entry": "run_id",
}
OF_A_RUN = "workflows.Entry"  # knows its run by the id alone


def visible(desk: Desk, model: type[M]) -> models.QuerySet[M]:
    """The rows of a model that this person may see. A model that nobody placed shows nothing to who has teams."""
    rows = model._default_manager.all()
    label = model._meta.label
    if desk.teams is None or label in SHARED:
        return rows
    if label == OF_A_RUN:
        return rows.filter(run_id__in=Run.objects.filter(agent__in=desk.agents).values("id"))
    if label in BY_TEAM:
        return rows.filter(**{f"{BY_TEAM[label]}__in": desk.teams})
    path = AGENT_OF.get(label)
    return rows.filter(**{f"{path}__in": desk.agents}) if path else rows.none()


def listed(desk: Desk, model: type[M]) -> models.QuerySet[M]:
    """The same rows, for a list of the newest. A team that did little would have all that others did be read to find
    its own; where it has few runs its rows are found by these. One query more."""
    rows = visible(desk, model)
    by = FOUND_BY.get(model._meta.label)
    if desk.teams is None or by is None:
        return rows
    runs = list(Run.objects.filter(agent__in=desk.agents).values_list("id", flat=True)[: FEW + 1])
    if len(runs) > FEW:
        return rows
    if model is Decision:  # one that let nothing become an effect has no run
        denied = Decision.objects.filter(verdict="deny", effect=None, agent__in=desk.agents)
        return rows.filter(id__in=Decision.objects.filter(effect__run__in=runs).values("id").union(denied.values("id")))
    return rows.filter(**{f"{by}__in": runs})


def one(rows: models.QuerySet[M], **by: Any) -> M:
    """The one row, or 404: unknown, somebody else's and malformed are answered alike."""
    try:
        found = None if any("\x00" in str(value) for value in by.values()) else rows.filter(**by).first()
    except (ValidationError, ValueError, OverflowError, DataError):
        found = None
    if found is None:
        raise Http404(_("There is no such thing."))
    return found
