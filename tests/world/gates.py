"""Barriers inside the lying provider: a test waits until a request is inside, does its harm, and lets it go on."""

from __future__ import annotations

import threading

from tests.world.switches import Switch

# A test that forgot to release must end by itself, well before the runner's own patience does.
LONGEST_HOLD = 120.0
# Together is a claim about concurrency: who isn't there by then never comes.
LONGEST_GATHERING = 30.0


class Gate:
    """Holds matching requests `before` they are booked, or once `booked` and before the answer."""

    def __init__(self, *, method: str, path: str, containing: str = "", where: str = "before", times: int = 1) -> None:
        if where not in ("before", "booked"):
            raise ValueError(f"where: {where!r} is none of before, booked")
        self._wanted = Switch(method=method, path=path, containing=containing)
        self._where = where
        self._left = times
        self._inside = 0
        self._open = False
        self._book = True
        self._changed = threading.Condition()

    def arrived(self, *, calls: int = 1, timeout: float = LONGEST_HOLD) -> bool:
        """Waits until so many requests are inside (or have been); false after the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: self._inside >= calls, timeout)

    def release(self, *, book: bool = True) -> None:
        """Lets all go on. With `book=False` what was held before its booking never happens and is never answered."""
        with self._changed:
            self._open, self._book = True, book
            self._changed.notify_all()

    def pass_through(self, where: str, method: str, target: str, body: bytes) -> bool:
        """Called by the server: waits if this gate is meant. False: drop the request."""
        with self._changed:
            if self._open or where != self._where or not self._left or not self._wanted.matches(method, target, body):
                return True
            self._left -= 1
            self._inside += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._open, LONGEST_HOLD)
            return self._book or where == "booked"


class Gathering:
    """Lets requests go on only once `n` of them are inside at the same time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._rounds = 0

    def wait(self, n: int) -> bool:
        """False: the others never came."""
        with self._changed:
            rounds = self._rounds
            self._inside += 1
            if self._inside >= n:
                self._inside, self._rounds = 0, self._rounds + 1
                self._changed.notify_all()
                return True
            if self._changed.wait_for(lambda: self._rounds != rounds, LONGEST_GATHERING):
                return True
            self._inside -= 1
            return False
