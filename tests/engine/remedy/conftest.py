"""Runs that a person makes good: one that is stuck, and one that is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.remedy.asking import codes
from tests.engine.simulated import World
from workflows.models import Run

Make = Callable[..., Any]


@pytest.fixture
def refund(tool: Make) -> Any:
    return tool("t.refund", undo=False, residue="A refund was made.")


@pytest.fixture
def stuck(world: World, tool: Make, workflow: Make, run_through: Make, refund: Any) -> Run:
    """A run whose only act a look found twice."""
    tool("t.charge", scopes=["charges:one"], residue="A charge stands.")
    world.script("t.charge", "execute", "lost_after")
    world.script("t.charge", "look", "several")
    run: Run = run_through(workflow("t.charge"))
    assert codes(run) == ["several"]
    return run


@pytest.fixture
def over(world: World, tool: Make, workflow: Make, run_through: Make, refund: Any) -> Run:
    tool("t.charge", scopes=["charges:one"], residue="A charge stands.")
    run: Run = run_through(workflow("t.charge"))
    assert (run.state, run.is_clean) == ("completed", True)
    return run
