"""A process in which workers are born quickly and may be killed: `python -m benchmarks.soak.workers`.

For each line that comes in it forks one that drains until it is killed, and prints its number. All end with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from collections.abc import Callable

SLOTS = 32


class Workers:
    """Who bears them, from outside."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "benchmarks.soak.workers"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def born(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from workflows import garbage
    from workflows.drain import Drain  # once, for all that are born

    garbage.calm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are not kept
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            _live(lambda: Drain(SLOTS))
        print(child, flush=True)


def _live(make: Callable[[], object]) -> None:
    """Until it is killed, or who bore it is gone."""
    parent, drain = os.getppid(), make()
    try:
        while os.getppid() == parent:
            if not drain.turn():  # type: ignore[attr-defined]
                drain.rest(0.05)  # type: ignore[attr-defined]
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
