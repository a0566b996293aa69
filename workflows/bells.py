"""One connection that listens for work, outside Django's: wakes a drain, and holds its slot. Used by tasks only.

The slot is an advisory lock of the session: whoever dies lets go of it, and anybody can see how many drains live.
Behind a transaction pooler no session lasts: there a slot is a fresh beat, and a drain finds work by looking.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection

from workflows.ledger import WORK_CHANNEL

LOCK_CLASS = 0x4D61  # "Ma": the first half of the two-part advisory lock; the second is host and slot
HEARD_EVERY = 1.0  # seconds between looks at whether to stop
FRESH = 12.0  # seconds that a beat holds a slot behind a pooler; drains beat every 5


def connect() -> psycopg.Connection[Any]:
    """A connection of one's own with the settings of Django's, autocommitting."""
    parameters = connection.get_connection_params()
    kept = {
        k: v for k, v in parameters.items() if k in {"dbname", "user", "password", "host", "port", "connect_timeout"}
    }
    return psycopg.connect(**kept, autocommit=True, prepare_threshold=None)


def slot_key(number: int) -> int:
    """This host's drains have slots of their own: any number of hosts may share a database."""
    host = sum(ord(c) * (i + 1) for i, c in enumerate(os.uname().nodename)) % 0x7FFF
    return host * 0x10000 + number


class Listener:
    """Takes a free slot of `slots`, then calls `ring` for each bell until closed. `slot`: None if none was free."""

    def __init__(self, ring: Callable[[], None], slots: int) -> None:
        self._ring = ring
        self._stop = threading.Event()
        self._connection = connect()
        take = self._lease if settings.MAKEGOOD_POOLED else self._take
        self.slot = next((n for n in range(slots) if take(n)), None)
        self._thread = threading.Thread(target=self._listen, name="bells", daemon=True)
        if self.slot is not None and not settings.MAKEGOOD_POOLED:
            self._connection.execute(f"LISTEN {WORK_CHANNEL}")
            self._thread.start()

    def _take(self, number: int) -> bool:
        row = self._connection.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_CLASS, slot_key(number)]).fetchone()
        return bool(row and row[0])

    def _lease(self, number: int) -> bool:
        return self._connection.execute(LEASE, [str(slot_key(number)), FRESH]).fetchone() is not None

    def _listen(self) -> None:
        try:
            while not self._stop.is_set():
                for _ in self._connection.notifies(timeout=HEARD_EVERY, stop_after=1):
                    self._ring()
        except psycopg.Error:
            # The database went away; the drain meets the same, ends, and its successor listens anew.
            self._ring()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.slot is not None and settings.MAKEGOOD_POOLED:
            with contextlib.suppress(psycopg.Error):  # else the next waits until it isn't fresh any more
                self._connection.execute(LET_GO, [FRESH, str(slot_key(self.slot))])
        self._connection.close()


LEASE = """
INSERT INTO workflows_beat AS b (slot, at) VALUES (%s, clock_timestamp())
ON CONFLICT (slot) DO UPDATE SET at = excluded.at WHERE b.at < clock_timestamp() - make_interval(secs => %s)
RETURNING slot
"""
LET_GO = "UPDATE workflows_beat SET at = at - make_interval(secs => %s) WHERE slot = %s"


def drains_alive() -> int:
    """How many drains of any host hold a slot now."""
    with connection.cursor() as cursor:
        if settings.MAKEGOOD_POOLED:
            cursor.execute(
                "SELECT count(*) FROM workflows_beat WHERE at > clock_timestamp() - make_interval(secs => %s)", [FRESH]
            )
            return int(cursor.fetchone()[0])
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [LOCK_CLASS],
        )
        return int(cursor.fetchone()[0])
