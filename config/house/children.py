"""The children of `up`: started through their holder, ended by closing its pipe, and found again by the next `up`."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from config.house import folder as data
from config.house import processes

RECORDS = "run"  # the folder in the data folder that holds one file for each child
HOLDER_PATIENCE = 5.0  # seconds that a holder gets beyond its child's grace
MARK = "MAKEGOOD_DATA"  # every child carries it, which tells ours from any other program


@dataclasses.dataclass(slots=True)
class Child:
    """One program that `up` keeps running. grace: seconds it gets to end when asked."""

    name: str
    command: Sequence[str]
    grace: float
    tells: Path | None = None  # a JSON file it writes once it runs: environment variables for those after it
    once: bool = False  # it does its work and ends; it is not started again
    holder: subprocess.Popen[bytes] | None = None

    def start(self, folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        record = folder / RECORDS / f"{self.name}.json"
        record.parent.mkdir(mode=0o700, exist_ok=True)
        _end_leftover(record, folder)  # of a holder that was killed
        self.ask_to_end()
        if self.tells:
            self.tells.unlink(missing_ok=True)
        self.holder = subprocess.Popen(
            [sys.executable, "-m", "config.house.child", str(record), str(self.grace), "--", *self.command],
            stdin=subprocess.PIPE,
            cwd=data.ROOT,
            env={**os.environ, **environment, MARK: str(folder)},
            start_new_session=True,
        )
        return self.holder

    def told(self) -> dict[str, str] | None:
        """What it tells; {} if it tells nothing ever, None as long as it hasn't told yet."""
        if self.tells is None:
            return {}
        try:
            return dict(json.loads(self.tells.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def ask_to_end(self) -> None:
        if self.holder and self.holder.stdin:
            self.holder.stdin.close()

    def wait_ended(self) -> None:
        """Until it is gone, by force in the end."""
        if self.holder:
            try:
                self.holder.wait(self.grace + HOLDER_PATIENCE)
            except subprocess.TimeoutExpired:
                self.holder.kill()
                self.holder.wait()


def end_leftovers(folder: Path) -> list[str]:
    """Waits for what a killed `up` left, which is ending by itself, then ends it by force. Returns the names found."""
    records = sorted((folder / RECORDS).glob("*.json"))
    return [record.stem for record in records if _end_leftover(record, folder)]


def _end_leftover(record: Path, folder: Path) -> bool:
    """Whether anything of this record's child was still there."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
        holder, command = tuple(content["holder"]), tuple(content["command"])
    except (OSError, ValueError, KeyError, TypeError):
        record.unlink(missing_ok=True)
        return False
    found = processes.alive(*holder) or processes.alive(*command) or bool(_members(command[0], folder))
    if processes.alive(*holder):
        processes.wait_gone([holder], _grace(holder[0]) + HOLDER_PATIENCE)
    processes.end([holder, command], gently=signal.SIGTERM, patience=HOLDER_PATIENCE)
    for member in _members(command[0], folder):
        processes.end([(member, processes.started(member))], gently=signal.SIGKILL, patience=HOLDER_PATIENCE)
    record.unlink(missing_ok=True)
    return found


def _members(group: int, folder: Path) -> list[int]:
    """The processes of this group that are children of this very folder."""
    members = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.environ().get(MARK) == str(folder):
                members.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return members


def _grace(holder: int) -> float:
    """How long this holder gives its child: the second word after the module's name on its command line."""
    try:
        words = psutil.Process(holder).cmdline()
        return float(words[words.index("config.house.child") + 2])
    except (psutil.Error, ValueError, IndexError):
        return 0.0
