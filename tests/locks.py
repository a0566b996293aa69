"""Whether somebody waits for a lock that this transaction holds: how a test knows how far another has got."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from django.db import connection

PATIENCE = 60.0  # seconds: far longer than any healthy machine takes


def waits() -> bool:
    """Read from what is live: within a transaction the list of sessions stays as it was at its first look."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS)
        return bool(cursor.fetchone()[0])


WAITS = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"


def begun(work: Callable[[], object]) -> threading.Thread:
    """In a thread of its own, which by now waits for this transaction or is over. Whoever asks joins it afterwards."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    end = time.monotonic() + PATIENCE
    while thread.is_alive() and not waits():
        assert time.monotonic() < end, "it waits for something else"
        thread.join(0.01)
    return thread
