"""Sets the stage for workers that die: four tools on the lying provider, a run of each, a worker on this database."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

from django.db import connection

from tests.blackbox import manifests
from tests.world.provider import Provider
from workflows import catalog, reading
from workflows.drain import Drain, next_due
from workflows.engine.start import StartBody, start_run
from workflows.models import Agent, Effect, Run
from workflows.tools.manifest import load_texts

PATIENCE = 60.0  # seconds; whoever waits longer waits for what never comes
SOON = 10.0  # seconds; what is due later, a run's deadline say, isn't waited for

# name: how the provider is (honours our key?, can one look?)
TOOLS = {"seen": (True, True), "unseen": (True, False), "keyless": (False, True), "blind": (False, False)}


def apply(*, timeout: str = "10s") -> None:
    """Tools and workflows of these names, each on a collection of its own."""
    tools = [
        manifests.tool(
            f"t.{name}",
            name,
            by=manifests.HONOURED if keyed else manifests.KEYLESS,
            headers='{Idempotency-Key: "${ key }"}' if keyed else '{X-Reference: "${ key }"}',
            observability="authoritative_read" if look else "none",
            verify=manifests.VERIFY if look else None,
            compensate=None,
            effect_class="bufferable",
            timeout=timeout,
        )
        for name, (keyed, look) in TOOLS.items()
    ]
    workflows = [manifests.workflow(name, manifests.step("thing", f"t.{name}")) for name in TOOLS]
    catalog.apply(load_texts([("tools.yaml", manifests.manifest(tools, workflows))]))


def start(names: list[str]) -> dict[str, Run]:
    agent = Agent.objects.create(name="crash", tools=["*"], workflows=["*"])
    return {
        name: start_run(
            agent,
            name,
            StartBody(
                subject={"type": "customer", "id": name},
                digest=name,
                workflow=name,
                input={"email": f"{name}@acme.example"},
            ),
        )[0]
        for name in names
    }


@contextlib.contextmanager
def worker(point: str, calls: int, *lease: str) -> Iterator[subprocess.Popen[str]]:
    """A worker on this test's database; killed at the end at the latest."""
    with process_of("tests.crash.worker", point, str(calls), *lease) as process:
        yield process


@contextlib.contextmanager
def process_of(module: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """One that works on this test's database; killed at the end at the latest."""
    command = ["env", f"DATABASE_URL={url()}", sys.executable, "-m", module, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def url() -> str:
    at = {name: quote(str(connection.settings_dict[name]), safe="") for name in ("USER", "PASSWORD", "PORT", "HOST")}
    name = quote(str(connection.settings_dict["NAME"]))
    return f"postgresql://{at['USER']}:{at['PASSWORD']}@:{at['PORT']}/{name}?host={at['HOST']}"


def reached(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "reached\n", "the worker never came to its point"


def until(holds: Callable[[], object], why: str) -> None:
    """Polls; for what happens in other processes."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, why
        time.sleep(0.02)


def settle() -> None:
    """Drains until nothing is under way and nothing moves by itself soon."""
    work, end = Drain(slots=8), time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            if work.turn() or work.under_way:
                work.rest(0.01)
                continue
            due = next_due()
            if due is None or due > SOON:
                return
            work.rest(due)
        raise AssertionError("the engine never came to rest")
    finally:
        work.close()


def told(run: Run, world: Provider) -> tuple[str, int, int]:
    """(state and world of its effect, its objects outside, its live cases); checks that all objects are its own."""
    effect = Effect.objects.get(run=run)
    there = world.objects(run.workflow.name)
    assert {o.reference for o in there} <= {effect.key}, "an object that belongs to no effect"
    return f"{effect.state} {effect.world}", len(there), len(reading.cases_of([run.id])[run.id])
