"""An agent's own run, locked or not; another agent's is not found, like one that doesn't exist. Any for a person."""

from __future__ import annotations

import uuid

from django.db.models import QuerySet

from workflows.errors import NotFound
from workflows.models import Agent, Run


def locked_run(agent: Agent, run_id: uuid.UUID) -> Run:
    return _found(_runs(agent, run_id).select_for_update(of=("self",)))


def any_locked_run(run_id: uuid.UUID) -> Run:
    """For an act of a person, who was let to it by its case."""
    run = Run.objects.filter(id=run_id).select_related("workflow", "agent").select_for_update(of=("self",)).first()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    return run


def own_run(agent: Agent, run_id: uuid.UUID) -> Run:
    """As it is now, for a look at it."""
    return _found(_runs(agent, run_id))


def _runs(agent: Agent, run_id: uuid.UUID) -> QuerySet[Run]:
    return Run.objects.filter(id=run_id, **agent.owned).select_related("workflow", "agent")


def _found(runs: QuerySet[Run]) -> Run:
    run = runs.first()
    if run is None:
        raise NotFound("There is no such run, or it isn't yours.")
    return run
