# mypy: ignore-errors
"""DBOS: durable steps a second, five steps that do nothing in each workflow. Run by the peers' own Python.

`python dbos_steps.py URL SECONDS THREADS` prints one JSON line. Knows nothing of Makegood.
"""

import json
import os
import sys
import threading
import time

from dbos import DBOS

STEPS = 5


@DBOS.step()
def nothing(number: int) -> int:
    return number


@DBOS.workflow()
def five_steps() -> int:
    return sum(nothing(number) for number in range(STEPS))


def steps_per_second(seconds: float, threads: int) -> float:
    done = [0] * threads
    end = time.monotonic() + seconds

    def work(slot: int) -> None:
        while time.monotonic() < end:
            five_steps()
            done[slot] += STEPS

    workers = [threading.Thread(target=work, args=(slot,)) for slot in range(threads)]
    begun = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.monotonic() - begun)


def main(url: str, seconds: float, threads: int) -> None:
    # One executor each, or two processes would take over one another's workflows as those of a dead one.
    executor = f"bench-{os.getpid()}"
    DBOS(
        config={
            "name": "bench",
            "system_database_url": url,
            "log_level": "ERROR",
            "run_admin_server": False,
            "executor_id": executor,
        }
    )
    DBOS.launch()
    five_steps()
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps({"per_second": steps_per_second(seconds, threads)}), flush=True)
    os._exit(0)  # its background threads have nothing left to say


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
