"""Waits for a change of a run: one LISTEN connection per process wakes all who wait, and they hold no connection.

Called by the API for `Prefer: wait`. A bell is only a hint: whoever wakes looks for himself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import psycopg
from django.db import connection, connections

from config import gunicorn
from workflows.ledger import RUNS_CHANNEL

logger = logging.getLogger(__name__)

# Of the threads that answer requests this part may wait; the rest stays free for those who want an answer now.
MOST_WAITERS = max(1, gunicorn.threads * 3 // 4)
LOOK_AGAIN = 5.0  # seconds; a bell can be lost: a connection that broke, a pooler that passes no notifications
LISTENS_WITHIN = 2.0  # seconds to open the listening connection; who waits longer goes by LOOK_AGAIN alone
BREATH = 0.5  # seconds between two looks of the listening thread at whether it is still wanted
LINGER = 4  # breaths; who waits in a loop finds it still there, and an idle process holds no connection
RECONNECT = 1.0  # seconds; a restarted database is back in about that

EVERYBODY = "*"  # the bell that wakes all who wait: what they may see has changed

Seen = TypeVar("Seen")


def until(run_id: object, seconds: float, *, look: Callable[[], Seen], enough: Callable[[Seen], bool]) -> Seen | None:
    """What `look` saw as soon as that was enough, or last within `seconds`. None: too many wait already, ask again."""
    with ear.seat(str(run_id)) as rung:
        if rung is None:
            return None
        end = time.monotonic() + seconds
        while True:
            rung.clear()
            seen = look()
            left = end - time.monotonic()
            if enough(seen) or left <= 0:
                return seen
            if not connection.in_atomic_block:
                connection.close()
            rung.wait(min(left, LOOK_AGAIN))


class Ear:
    """The listening thread of this process, and the seats of those who wait for what it hears."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seats: dict[str, set[threading.Event]] = defaultdict(set)
        self.taken = 0
        self.listening = threading.Event()
        self.closing = threading.Event()
        self.thread: threading.Thread | None = None

    @contextlib.contextmanager
    def seat(self, run_id: str) -> Iterator[threading.Event | None]:
        """An event that is set whenever the run may have changed since the seat was taken; None when all are taken."""
        rung = self._sit(run_id)
        try:
            if rung:
                self.listening.wait(LISTENS_WITHIN)
            yield rung
        finally:
            if rung:
                self._rise(run_id, rung)

    def close(self) -> None:
        """Ends the thread and its connection; the next who waits starts another."""
        self.closing.set()
        if thread := self.thread:
            thread.join()

    def _sit(self, run_id: str) -> threading.Event | None:
        with self.lock:
            if self.taken >= MOST_WAITERS:
                return None
            if self.thread is None or not self.thread.is_alive():
                self.listening, self.closing = threading.Event(), threading.Event()
                self.thread = threading.Thread(target=self._listen, args=(self.closing,), name="run-bells", daemon=True)
                self.thread.start()
            rung = threading.Event()
            self.taken += 1
            self.seats[run_id].add(rung)
            return rung

    def _rise(self, run_id: str, rung: threading.Event) -> None:
        with self.lock:
            self.taken -= 1
            self.seats[run_id].discard(rung)
            if not self.seats[run_id]:
                del self.seats[run_id]

    def _listen(self, closing: threading.Event) -> None:
        while not closing.is_set():
            try:
                with psycopg.connect(**_parameters(), autocommit=True) as link:
                    link.execute(f"LISTEN {RUNS_CHANNEL}")
                    self._ring_all()  # what rang while nobody listened
                    self.listening.set()
                    idle = 0
                    while not closing.is_set():
                        for bell in link.notifies(timeout=BREATH):
                            self._ring(bell.payload)
                        idle = 0 if self.taken else idle + 1
                        if idle >= LINGER and self._dismissed():
                            return
            except psycopg.Error as error:
                self.listening.clear()
                logger.warning("the connection that listens for changed runs is gone: %s", error)
                closing.wait(RECONNECT)

    def _dismissed(self) -> bool:
        """Whether nobody waits; then the next who does starts another thread."""
        with self.lock:
            if not self.taken:
                self.thread = None
            return not self.taken

    def _ring(self, run_id: str) -> None:
        if run_id == EVERYBODY:
            self._ring_all()
            return
        with self.lock:
            for rung in self.seats.get(run_id, ()):
                rung.set()

    def _ring_all(self) -> None:
        with self.lock:
            for rungs in self.seats.values():
                for rung in rungs:
                    rung.set()


def _parameters() -> dict[str, Any]:
    """As Django connects, but for its cursors: this connection lives beside its own."""
    parameters = connections["default"].get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}


ear = Ear()
# A fork inherits neither the thread nor the right to its connection, and maybe a lock that nobody will open.
os.register_at_fork(after_in_child=ear.__init__)  # type: ignore[misc]
