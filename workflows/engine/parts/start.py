"""The moment in which a group's calls begin, for `engine.call`: no call begins after its permission was given back."""

from __future__ import annotations

import threading


class Start:
    """So many calls may begin until `close`; each asks once."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._open = True
        self._changed = threading.Condition()

    def begin(self) -> bool:
        """In the thread of a call, right before it: whether it may begin."""
        with self._changed:
            if self._open:
                self._left -= 1
                if self._left == 0:
                    self._changed.notify_all()
            return self._open

    def close(self, seconds: float) -> None:
        """Waits until all have begun, at most so long; who comes after this begins no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._left <= 0, seconds)
            self._open = False
