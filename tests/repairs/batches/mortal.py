"""The task of batches in a process of its own: `python -m tests.repairs.batches.mortal`, to be killed.

Its first case is committed, its second one acted on and not committed: there it prints "reached", and waits.
"""

from __future__ import annotations

import itertools
import os
from typing import Any
from unittest import mock

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from repairs.bulk import acting, running
    from tests.crash.worker import reached

    real, turns = acting.act, itertools.count(1)

    def act(*args: Any) -> Any:
        done = real(*args)
        if next(turns) == 2:
            reached()
        return done

    with mock.patch.object(running, "act", act):
        running.run()


if __name__ == "__main__":
    main()
