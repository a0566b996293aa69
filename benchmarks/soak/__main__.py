"""`python -m benchmarks.soak [--effects 20000] [--seed 1] [--workers 2] [--faults 0.3]`: see ../README.md.

Exit code 1 where the ledger and the oracle disagree on anything, or a promise was broken.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import django

from benchmarks import server
from benchmarks.soak import plan
from benchmarks.soak.course import Course
from benchmarks.soak.workers import Workers
from config.house import folder
from tests.world.remote import Remote

BACKLOG = 300  # runs that wait or work at once
EVERY = 0.25  # seconds between looks at how far it is
BETWEEN_KILLS = (1.5, 5.0)  # seconds
SILENT = 180.0  # seconds without any progress, after which it is given up


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--effects", type=int, default=20_000, help="forward effects, about")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--workers", type=int, default=2, help="beside them one that is never killed, to be measured")
    parser.add_argument("--faults", type=float, default=0.3, help="share of calls that meet a fault")
    parser.add_argument("--database", help="a server of yours; the database `soak` is made on it")
    options = parser.parse_args()
    if options.database:
        return soak(options.database, options)
    with server.own_server(folder.data_folder() / "soak") as url:
        return soak(url, options)


def soak(url: str, options: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "benchmarks.soak.outside", options.seed, str(options.faults)]
    with (
        tempfile.TemporaryDirectory(prefix="makegood-soak-") as home,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as outside,
    ):
        assert outside.stdout is not None
        world = f"http://127.0.0.1:{int(outside.stdout.readline())}"
        os.environ |= {
            "MAKEGOOD_DATA": home,
            "DATABASE_URL": server.made(url, "soak"),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "MAKEGOOD_ENV": "WORLD_URL",
            "WORLD_URL": world,
            "MAKEGOOD_LOG": "text",
        }
        django.setup()
        from benchmarks.soak import report
        from benchmarks.soak.judge import judge

        workers = Workers()
        try:
            course = run(options, workers)
        finally:
            workers.close()
        verdict = judge(Remote(world).oracle)
        outside.terminate()
    print(report.text(verdict, course, options))
    return 0 if verdict.kept and course.ended else 1


def run(options: argparse.Namespace, workers: Workers) -> Course:
    """Feeds runs, kills workers, and waits until all of it is settled or somebody's."""
    from benchmarks.soak.runs import Runs

    runs = Runs(options.effects // plan.FORWARD, options.seed)
    draw = random.Random(f"{options.seed} kills")
    course = Course()
    steady = workers.born()
    living = [workers.born() for _ in range(options.workers)]
    next_kill = time.monotonic() + draw.uniform(*BETWEEN_KILLS)
    moved, last = time.monotonic(), ""
    while not runs.settled():
        runs.feed(BACKLOG)
        if living and time.monotonic() > next_kill:
            next_kill = time.monotonic() + draw.uniform(*BETWEEN_KILLS)
            place = draw.randrange(len(living))
            _kill(living[place])
            course.kills += 1
            living[place] = workers.born()
        done = runs.moves()
        if done != last:
            moved, last = time.monotonic(), done
        elif time.monotonic() - moved > SILENT:
            course.ended = False
            break
        course.memory.append(_memory(steady))
        course.tell(runs)
        time.sleep(EVERY)
    return course


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself: the database was away, say
        os.kill(pid, signal.SIGKILL)


def _memory(pid: int) -> int:
    """Resident kilobytes."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    sys.exit(main())
