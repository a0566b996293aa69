"""An agent's own run, locked. Another agent's is not found, like one that doesn't exist."""

from __future__ import annotations

import uuid

from workflows.errors import NotFound
from workflows.models import Agent, Run


def locked_run(agent: Agent, run_id: uuid.UUID) -> Run:
    run = (
        Run.objects.filter(id=run_id, **agent.owned)
        .select_for_update(of=("self",))
        .select_related("workflow", "agent")
        .first()
    )
    if run is None:
        raise NotFound("There is no such run, or it isn't yours.")
    return run
