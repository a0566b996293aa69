"""Runs the peers in a Python of their own; their programs beside this file know nothing of Makegood."""

from __future__ import annotations

from pathlib import Path

from benchmarks.processes import started

HERE = Path(__file__).parent
PROGRAMS = {"DBOS": "dbos_steps.py", "LangGraph": "langgraph_nodes.py"}


def per_second(peer: str, python: Path, url: str, *, processes: int, threads: int, seconds: float) -> float:
    """Durable steps a second of all processes together, begun at the same moment."""
    words = [str(python), str(HERE / PROGRAMS[peer]), url, str(seconds), str(threads)]
    all_of_them = []
    for _ in range(processes):  # one after another: the first makes the tables
        process = started(words)
        process.ready()
        all_of_them.append(process)
    for process in all_of_them:
        process.go()
    return sum(float(process.result()["per_second"]) for process in all_of_them)
