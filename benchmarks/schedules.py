"""`python -m benchmarks.schedules [--schedules 5000] [--seed 1] [--workers 2]`: the property test, told at length.

Random schedules over a real PostgreSQL: agents, workers, crashes, late answers, sweeps, cancels, people, clock steps.
Each worker has a database of its own. Exit code 1, with the schedule, where a promise was broken after any step.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import server
from config.house import folder

TEST = "tests/property/test_schedules.py"
TOLD = re.compile(r"told (\d+) schedules, (\d+) steps$", re.MULTILINE)
BOUND = 3  # of n schedules without a broken promise: with 95 % less than 3 in n would break one


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schedules", description=__doc__)
    parser.add_argument("--schedules", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1, help="tells the same schedules again")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--database", help="a server of yours; databases `schedules_N` are made on it")
    options = parser.parse_args()
    if options.database:
        return tell(options.database, options)
    with server.own_server(folder.data_folder() / "schedules") as url:
        return tell(url, options)


def tell(url: str, options: argparse.Namespace) -> int:
    began = time.monotonic()
    share = -(-options.schedules // options.workers)
    running = [_one(server.made(url, f"schedules_{n}"), share, options.seed + n) for n in range(options.workers)]
    told = [one.communicate()[0] for one in running]
    for n in range(options.workers):
        server.dropped(url, f"schedules_{n}")
    failed = [text for one, text in zip(running, told, strict=True) if one.returncode]
    found = [tuple(map(int, match)) for text in told for match in TOLD.findall(text)]
    schedules, steps = sum(n for n, _ in found), sum(n for _, n in found)
    seconds = time.monotonic() - began
    print(f"{schedules} schedules, {steps} steps, seed {options.seed}, {options.workers} workers: {seconds:.0f} s")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # the tests; the server is nobody's child
    each = (used.ru_utime + used.ru_stime) / max(schedules, 1)
    print(f"{schedules / seconds:.1f} schedules a second, {each:.2f} s of processor time each, without the server's")
    print("The promises were checked after each step.")
    if failed:
        print("\n".join(failed))
        return 1
    print(f"0 broken; with 95 % fewer than {BOUND / max(schedules, 1):.2%} of such schedules would break one")
    return 0


def _one(database: str, schedules: int, seed: int) -> subprocess.Popen[str]:
    told = {"DATABASE_URL": database, "MAKEGOOD_SCHEDULES": str(schedules), "MAKEGOOD_SCHEDULES_SEED": str(seed)}
    # Without the bound on one test: these are meant to be long.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-o",
        "faulthandler_timeout=0",
        "--timeout=0",
        TEST,
    ]
    home = Path(__file__).parents[1]
    return subprocess.Popen(command, cwd=home, env={**os.environ, **told}, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    sys.exit(main())
