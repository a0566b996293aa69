"""Starting runs: the same key is the same run, but only while the agent may still ask for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.simulated import World
from workflows.engine.start import StartBody, start_run
from workflows.errors import Denied, KeyReused
from workflows.models import Agent, Decision

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_replay_after_the_grant_was_taken_is_denied_and_written(
    world: World, tool: Make, workflow: Make, agent: Agent
) -> None:
    tool("t.a")
    body = StartBody(workflow=workflow("t.a").name, subject={"type": "customer", "id": "1"}, digest="a")
    run, created = start_run(agent, "key", body)
    assert (created, start_run(agent, "key", body)) == (True, (run, False))
    with pytest.raises(KeyReused):
        start_run(agent, "key", StartBody(workflow=body.workflow, subject=body.subject, digest="b"))
    agent.workflows = []
    agent.save()
    with pytest.raises(Denied):
        start_run(agent, "key", body)
    assert Decision.objects.get().verdict == "deny"
