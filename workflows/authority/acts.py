"""Writes what somebody changed about an agent: a row that stays, and its entry in the journal, in the same commit."""

from __future__ import annotations

from typing import Any

from workflows import journal, rows
from workflows.models import Agent, AgentAct


def record(agent: Agent, what: str, *, by: str, why: str = "", **facts: Any) -> AgentAct:
    """`by`: "person:LOGIN" or "command". `facts`: what changed; never a secret. Inside the change's transaction."""
    now = rows.now()
    told = {name: value for name, value in facts.items() if value not in ("", None)}
    act = AgentAct(agent=agent, what=what, by=by, why=why, facts=told, at=now)
    payload = {"agent": str(agent.id), "why": why, **told}
    event = journal.Event(subject=act, kind="agentact", run_id=None, event=what, actor=by, payload=payload)
    made = journal.chain([event], at=now)
    act.save(force_insert=True)
    journal.write(made)
    return act
