"""One worker process of the benchmark: `python -m benchmarks.worker SECONDS`, the drain that django-q2 would run.

Prints "ready" once it drains, and ends after so many seconds.
"""

from __future__ import annotations

import os
import sys

import django


def main(seconds: float) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from workflows import tasks  # only once Django is set up

    tasks.CLAIM_FOR = seconds
    print("ready", flush=True)
    tasks.drain()


if __name__ == "__main__":
    main(float(sys.argv[1]))
