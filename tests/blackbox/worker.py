"""A worker in a process of its own, to be killed: drains until its standard input ends. Used by test_killed.py."""

from __future__ import annotations

import os
import select
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from workflows.drain import Drain

    drain = Drain(slots=8)
    # Whoever started it may die first: the end of the pipe ends this too.
    while not select.select([sys.stdin], [], [], 0)[0]:
        if not drain.turn():
            drain.rest(0.02)


if __name__ == "__main__":
    main()
