"""Tells one process from another that got the same number later, and ends what is left of ours (house and leases)."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

LOOK_EVERY = 0.05  # seconds between two looks at whether a process has gone


def started(pid: int) -> str:
    """When that process began, as a text to compare for equality; "" if there is none (a zombie is none)."""
    if pid <= 0:
        return ""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return _ticks(pid) or f"{process.create_time():.2f}"
    except psutil.Error:
        return ""


def alive(pid: int, since: str) -> bool:
    """Whether the very process of that number and beginning still runs."""
    return bool(since) and started(pid) == since


def end(pids: Iterable[tuple[int, str]], *, gently: signal.Signals, patience: float) -> None:
    """Asks each of (pid, started) to end, waits so many seconds for all of them, and kills the rest."""
    left = [one for one in pids if alive(*one)]
    for pid, _ in left:
        _signal(pid, gently)
    left = wait_gone(left, patience)
    for pid, _ in left:
        _signal(pid, signal.SIGKILL)
    wait_gone(left, patience)


def wait_gone(pids: Iterable[tuple[int, str]], patience: float) -> list[tuple[int, str]]:
    """Those of (pid, started) that are still there after so many seconds."""
    until = time.monotonic() + patience
    left = list(pids)
    while (left := [one for one in left if alive(*one)]) and time.monotonic() < until:
        time.sleep(LOOK_EVERY)
    return left


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _ticks(pid: int) -> str:
    """Linux counts a process's beginning from boot, which no change of the clock moves; "" elsewhere."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # The name in parentheses may hold blanks and parentheses: count from the last one.
        return f"{boot}:{Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]}"
    except OSError:
        return ""
