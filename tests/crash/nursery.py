"""A process in which workers are born quickly and may die: `python -m tests.crash.nursery`. Used by `Nursery`.

For each line that comes in it forks one that drains until idle, and says how that ended: its exit code.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import django


class Nursery:
    """A test's end of it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def worker(self) -> int:
        """One worker's life: 0 where it had nothing left to do."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("drain\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextlib.contextmanager
def nursery(url: str) -> Iterator[Nursery]:
    """Its workers work on the database at this address."""
    command = ["env", f"DATABASE_URL={url}", sys.executable, "-m", "tests.crash.nursery"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Nursery(process)
        finally:
            process.kill()
            process.wait()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from workflows.drain import drain_once  # once, for all that are born

    for _ in sys.stdin:
        child = os.fork()
        if not child:
            _live(functools.partial(drain_once, slots=8))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _live(drain: Callable[[], None]) -> None:
    try:
        drain()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
