"""Starts `make up` and manage.py as people do, in processes of their own, for the tests of the house."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from config.house import cluster, processes
from config.house.folder import ROOT

PATIENCE = 120.0  # seconds: what `up` promises for a cold start; a loaded machine gets all of it
OURS = ("DATABASE_URL", "MAKEGOOD_DATA", "MAKEGOOD_ENV")


def environment(data: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**kept, "MAKEGOOD_DATA": str(data), "MAKEGOOD_WEB_PROCESSES": "1", **more}


def manage(*words: str, data: Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(
        command, env=environment(data, **more), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@dataclasses.dataclass
class Up:
    """One `make up`; `log` holds what it and its children said."""

    process: subprocess.Popen[bytes]
    data: Path
    port: int
    log: Path

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.HTTPError):
            return False

    def said(self, words: str) -> bool:
        return words in self.log.read_text(errors="replace")

    def signal_group(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)

    def family(self) -> dict[str, tuple[int, str]]:
        """The programs that it keeps running, the database's server included."""
        records = {record.stem: json.loads(record.read_text()) for record in (self.data / "run").glob("*.json")}
        found = {name: tuple(record["command"]) for name, record in records.items()}
        with contextlib.suppress(FileNotFoundError):
            found["postgres"] = tuple(json.loads((self.data / "postgres.json").read_text())["postmaster"])
        return {name: (int(pid), str(since)) for name, (pid, since) in found.items()}

    def wait(self, until: Callable[[], bool], what: str) -> None:
        wait(until, lambda: f"{what}; it said:\n{self.log.read_text(errors='replace')}")

    def wait_ready(self) -> None:
        self.wait(lambda: self.process.poll() is not None or self.ready(), "it did not get ready")
        assert self.process.poll() is None, self.log.read_text(errors="replace")


@contextlib.contextmanager
def make_up(data: Path, port: int, *, checkout: Path = ROOT, arguments: str = "--no-demo") -> Iterator[Up]:
    """In a process group of its own, as a shell starts it; ended at the end of the block if it still runs."""
    log = data.with_name(f"{data.name}-{cluster.free_port()}.log")
    command = [
        "make",
        "up",
        f"PORT={port}",
        f"ARGS={arguments}",
        f"PYTHON={getattr(sys, '_base_executable', 'python3')}",
    ]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=checkout, env=environment(data), stdout=stream, stderr=stream, start_new_session=True
        )
    up = Up(process, data, port, log)
    try:
        yield up
    finally:
        left = list(up.family().values())
        if process.poll() is None:
            up.signal_group(signal.SIGINT)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                up.signal_group(signal.SIGKILL)
                process.wait()
        processes.end(left, gently=signal.SIGTERM, patience=30)


def wait(until: Callable[[], bool], what: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, what()
        time.sleep(0.05)
