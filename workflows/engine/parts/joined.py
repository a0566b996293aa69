"""Puts into effects what verbs read besides them: run, tool, agent, what is undone. One statement each, for all."""

from __future__ import annotations

from collections.abc import Sequence

from workflows.fetch import fetch, give
from workflows.models import Agent, Effect, Run
from workflows.rows import ids
from workflows.toolbox import give_tools, give_workflows

BY_ID = "WHERE t.id = ANY (%s::uuid[])"


def join_runs(effects: Sequence[Effect]) -> None:
    """Run and workflow, as they are now."""
    runs = {run.id: run for run in fetch(Run, BY_ID, [ids({e.run_id for e in effects})])}
    give_workflows(runs.values())
    for effect in effects:
        give(effect, "run", runs[effect.run_id])


def join_agents(effects: Sequence[Effect]) -> None:
    """The agents as they are now: policy decides on present facts."""
    agents = {agent.id: agent for agent in fetch(Agent, BY_ID, [ids({e.agent_id for e in effects})])}
    for effect in effects:
        give(effect, "agent", agents[effect.agent_id])


def join_tools(effects: Sequence[Effect]) -> None:
    """Tool, and the effect that is undone where there is one."""
    give_tools(effects)
    undone = [e.compensates_id for e in effects if e.compensates_id]
    forward = {effect.id: effect for effect in fetch(Effect, BY_ID, [ids(undone)])} if undone else {}
    for effect in effects:
        give(effect, "compensates", forward[effect.compensates_id] if effect.compensates_id else None)
