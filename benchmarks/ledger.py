"""Makegood under measure: a backlog of accepted runs, real worker processes, and what they settled in a span."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection, transaction

from benchmarks.processes import Started, started
from workflows.engine.start import StartBody, start_run
from workflows.models import Agent, Effect, Run

MANIFEST = Path(__file__).with_name("manifest.yaml")
STEPS = 5
WARM = 1.0  # seconds before the span begins: plans are made, groups have grown
MOST = 4000  # effects a second for which there is work waiting; a worker that ran dry would be measured asleep
TOGETHER = 100  # runs accepted in one transaction: the backlog is not what is measured
BETWEEN = 0.1  # seconds between two runs of the latency's measure: the system is idle again by then
PATIENCE = 10.0  # seconds for one run on an idle system

_numbers = itertools.count()
_tag = uuid.uuid4().hex


def prepare() -> None:
    """Tables, tool, workflows and an agent in the database that the settings name."""
    call_command("migrate", verbosity=0)
    call_command("apply", str(MANIFEST), stdout=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    Agent.objects.create(name="bench", tools=["bench.noop"], workflows=["five-steps", "one-step"])


def per_second(workers: int, seconds: float) -> float:
    """Effects a second that became verified, by the database's clock, while so many workers drained a backlog."""
    _fill(seconds)
    processes = [_worker(seconds) for _ in range(workers)]
    for process in processes:
        process.ready()
    time.sleep(WARM)
    begun = _now()
    time.sleep(seconds)
    ended = _now()
    if not Run.objects.filter(ended_at=None).exists():
        raise RuntimeError("The workers ran out of work; raise MOST in benchmarks/ledger.py.")
    for process in processes:
        process.end()
    settled = Effect.objects.filter(state="verified", verified_at__gte=begun, verified_at__lt=ended).count()
    return float(settled / (ended - begun).total_seconds())


def latencies(count: int) -> list[float]:
    """Milliseconds from the run's row (before its commit) to the tool's call, one run at a time, one worker waiting.

    Measured before there is any backlog."""
    process = _worker(count * (BETWEEN + 0.2) + PATIENCE)
    process.ready()
    found = [_latency() for _ in range(count)]
    process.end()
    return found


def _latency() -> float:
    time.sleep(BETWEEN)
    run = _start("one-step")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        effect = Effect.objects.filter(run=run, state="verified").first()
        if effect is not None and effect.result is not None:
            return 1000 * float(effect.result["called_at"] - run.created_at.timestamp())
        time.sleep(0.005)
    raise RuntimeError(f"run {run.id} was not done in {PATIENCE:g} s")


def _fill(seconds: float) -> None:
    """Accepts runs until there is enough to do for the span and its edges, with whatever is left of earlier ones."""
    wanted = math.ceil(MOST * (seconds + 2 * WARM) / STEPS)
    missing = wanted - Run.objects.filter(ended_at=None).count()
    for begin in range(0, missing, TOGETHER):
        with transaction.atomic():
            for _ in range(min(TOGETHER, missing - begin)):
                _start("five-steps")


def _start(workflow: str) -> Run:
    number = next(_numbers)
    body = StartBody(workflow=workflow, subject={"type": "customer", "id": str(number)}, digest=str(number))
    return start_run(Agent.objects.get(name="bench"), f"{_tag}-{number}", body)[0]


def _worker(seconds: float) -> Started:
    return started([sys.executable, "-m", "benchmarks.worker", str(seconds + WARM + 0.5)], stdin=subprocess.DEVNULL)


def _now() -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]
