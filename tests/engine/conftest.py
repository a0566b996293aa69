"""What engine tests share: a simulated world, and short ways to a run and to what became of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.clock import clock  # noqa: F401  a fixture
from tests.engine import simulated
from workflows import toolbox
from workflows.drain import drain_once
from workflows.engine.start import StartBody, start_run
from workflows.making import canonical_digest
from workflows.models import Agent, Run, Tool, Workflow

_numbers = itertools.count(1)


@pytest.fixture
def world() -> Iterator[simulated.World]:
    yield simulated.fresh()
    toolbox.forget()


@pytest.fixture
def agent(db: None) -> Agent:
    return Agent.objects.create(name="sim", tools=["*"], workflows=["*"])


@pytest.fixture
def tool(db: None) -> Callable[..., Tool]:
    def make(name: str, **options: Any) -> Tool:
        spec = simulated.spec(**options)
        return Tool.objects.create(
            name=name, version=1, kind="python", digest=canonical_digest(spec), spec=spec, owner="sim-desk"
        )

    return make


@pytest.fixture
def workflow(db: None) -> Callable[..., Workflow]:
    """`workflow("a", "b")`: one step a tool, each after the one before; `after={"b": []}` says otherwise."""

    def make(*tools: str, after: dict[str, list[str]] | None = None, **options: Any) -> Workflow:
        names = [t.rpartition(".")[2] for t in tools]
        befores = [[], *([n] for n in names)]
        steps = [
            {"name": n, "tool": t, "after": (after or {}).get(n, b), "arguments": {"of": n}}
            for n, t, b in zip(names, tools, befores, strict=False)
        ]
        spec = {
            "version": 1,
            "owner": "sim-desk",
            "on_failure": "compensate",
            "after_irreversible": "hold",
            "deadline": 600.0,
            "gate": "none",
            "input": {"type": "object"},
            "steps": steps,
            **options,
        }
        name = f"w{next(_numbers)}"
        return Workflow.objects.create(name=name, version=1, digest=canonical_digest(spec), spec=spec, owner="sim-desk")

    return make


@pytest.fixture
def begin(agent: Agent) -> Callable[..., Run]:
    def start(workflow: Workflow, **options: Any) -> Run:
        n = next(_numbers)
        body = StartBody(
            workflow=workflow.name,
            subject={"type": "customer", "id": f"c{n}", "label": f"Customer {n}"},
            digest=str(n),
            **options,
        )
        return start_run(agent, f"key-{n}", body)[0]

    return start


@pytest.fixture
def run_through(begin: Callable[..., Run]) -> Callable[..., Run]:
    """Starts a run, drains until nothing is due, and gives it back as it is then."""

    def go(workflow: Workflow, **options: Any) -> Run:
        run = begin(workflow, **options)
        drain_once(slots=8)
        return again(run)

    return go


def again(run: Run) -> Run:
    return Run.objects.select_related("workflow", "agent").get(id=run.id)


def states(run: Run) -> dict[str, str]:
    """{"step kind": "state world"} of all effects."""
    return {f"{e.step.name} {e.kind}": f"{e.state} {e.world}" for e in run.effects.select_related("step").all()}
