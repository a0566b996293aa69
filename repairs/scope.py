"""The one place where rows are looked up for a person: all of them, or what belongs to their teams' agents.

A row that isn't visible is not found, with the same words as one that never was.
"""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError, models
from django.http import Http404

from repairs.desk import Desk
from workflows.models import Run

M = TypeVar("M", bound=models.Model)

# From a model to the team that its rows belong to.
TEAM_OF = {
    "workflows.Agent": "team",
    "workflows.AgentKey": "agent__team",
    "workflows.AgentAct": "agent__team",
    "workflows.Run": "agent__team",
    "workflows.Step": "run__agent__team",
    "workflows.Effect": "agent__team",
    "workflows.Attempt": "effect__agent__team",
    "workflows.Look": "effect__agent__team",
    "workflows.Decision": "agent__team",
    "workflows.ScopeHold": "effect__agent__team",
    "workflows.Team": "name",
    "workflows.Approval": "agent__team",
    "workflows.ApprovalVote": "approval__agent__team",
    "repairs.Case": "run__agent__team",
    "repairs.Act": "case__run__agent__team",
    "repairs.Worked": "case__run__agent__team",
    "repairs.Evidence": "act__case__run__agent__team",
    "repairs.BatchItem": "case__run__agent__team",
}
# Of the installation as a whole: declarations, rules and digests, which name no customer.
SHARED = frozenset(
    {"workflows.Tool", "workflows.Workflow", "workflows.Checkpoint", "workflows.Policy", "workflows.ToolAct"}
)
# Of all teams at once, or naming another's customer: as records only for who sees everything.
FOR_ALL_OR_NONE = frozenset({"workflows.Stop", "workflows.Credential", "repairs.PersonAct", "repairs.Batch"})
OF_A_RUN = "workflows.Entry"  # knows its run by the id alone


def visible(desk: Desk, model: type[M]) -> models.QuerySet[M]:
    """The rows of a model that this person may see. A model that nobody placed shows nothing to who has teams."""
    rows = model._default_manager.all()
    label = model._meta.label
    if desk.teams is None or label in SHARED:
        return rows
    if label == OF_A_RUN:
        return rows.filter(run_id__in=Run.objects.filter(agent__team__in=desk.teams).values("id"))
    path = TEAM_OF.get(label)
    return rows.filter(**{f"{path}__in": desk.teams}) if path else rows.none()


def one(rows: models.QuerySet[M], **by: Any) -> M:
    """The one row, or 404: unknown, somebody else's and malformed are answered alike."""
    try:
        found = None if any("\x00" in str(value) for value in by.values()) else rows.filter(**by).first()
    except (ValidationError, ValueError, OverflowError, DataError):
        found = None
    if found is None:
        raise Http404("There is no such thing.")
    return found
