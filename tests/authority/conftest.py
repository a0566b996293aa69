"""What tests of authority share: the engine's simulated world, and people with roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.api.conftest import caller, declared, ear, other
from tests.authority.oauth_server import Server, serving
from tests.authority.places import places
from tests.engine.conftest import agent, begin, run_through, tool, workflow, world
from tests.engine.simulated import World
from tests.repairs.conftest import browse, person, second, told
from workflows import toolbox
from workflows.authority import credentials
from workflows.models import Approval, Run

__all__ = [
    "agent", "begin", "browse", "caller", "declared", "ear", "other", "person", "places", "run_through", "second",
    "told", "tool", "workflow", "world",
]  # fmt: skip


@pytest.fixture
def asking(
    world: World, tool: Callable[..., Any], workflow: Callable[..., Any], run_through: Callable[..., Run]
) -> Callable[..., tuple[Run, Approval]]:
    """A run whose one step waits for persons, and what they are asked."""

    def make(name: str = "t.a", **profile: Any) -> tuple[Run, Approval]:
        tool(name, **{"autonomy": "ask", **profile})
        run = run_through(workflow(name))
        return run, Approval.objects.get(run=run, state="asked")

    return make


@pytest.fixture
def desk(person: Callable[..., User]) -> User:
    """Who approves."""
    return person("day-desk", "approver")


@pytest.fixture
def server() -> Iterator[Server]:
    """A provider behind its authorization server."""
    with serving() as found:
        credentials._open.clear()
        yield found
        toolbox.forget()
