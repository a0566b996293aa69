"""What goes over the wire and what comes back, and the three ways in which an exchange has no whole answer."""

from __future__ import annotations

import dataclasses
import time


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`headers`: lower-case names, repeated ones joined by a comma. `body`: decoded. `received`: bytes of the wire."""

    status: int
    headers: dict[str, str]
    body: bytes
    received: int
    address: str


class NotLeft(Exception):
    """No byte of the request can have reached the other side."""


class Forbidden(Exception):
    """The operator forbids this address; nothing was sent."""


class Lost(Exception):
    """The request may have arrived, and no whole answer came back. `partial`: what of one was read."""

    def __init__(self, reason: str, partial: Answer | None = None, *, too_large: bool = False) -> None:
        self.partial, self.too_large = partial, too_large
        super().__init__(reason)


class Deadline:
    """The one limit of a whole exchange: a server that drips a byte a second must not hold a worker for ever."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def seconds_left(self) -> float:
        """For a second exchange within the same limit, which then fails as not sent in time."""
        return max(0.0, self._end - time.monotonic())

    def left(self) -> float:
        """Seconds left; raises `TimeoutError` when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left
