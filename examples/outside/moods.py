"""What a service does besides its work: acts and drops the answer, delays, refuses, answers stale or malformed.

"allow" does its work as if nothing were set: what a customer always brings is lifted.

A mood is met by one customer's requests. Some customers always bring one (customers.py); `POST /_moods` sets others.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import threading
from typing import Any

ACTS = ("drop", "delay", "refuse", "stale", "malformed", "allow")


@dataclasses.dataclass(slots=True, kw_only=True)
class Mood:
    """`does` it to requests that speak of `customer` (a text in the request or in the object it names)."""

    does: str
    customer: str = ""
    method: str = ""  # "" is any; SMTP for a message to the mail server
    path: str = "*"  # a pattern, as of file names
    seconds: float = 0.0  # of delay: it acts, then answers so much later
    status: int = 422  # of refuse
    text: str = "refused"  # of refuse
    times: int | None = 1  # None: always

    def __post_init__(self) -> None:
        if self.does not in ACTS:
            raise ValueError(f"does: {self.does!r} is none of {', '.join(ACTS)}")

    def meets(self, method: str, path: str, text: str) -> bool:
        return self.method in ("", method) and fnmatch.fnmatchcase(path, self.path) and self.customer in text


class Moods:
    """One service's moods; those set last go first."""

    def __init__(self, standing: list[Mood]) -> None:
        self._lock = threading.Lock()
        self._standing = standing
        self._set: list[Mood] = []

    def take(self, method: str, path: str, text: str) -> Mood | None:
        """The mood for this request, used up by one."""
        with self._lock:
            for mood in [*reversed(self._set), *self._standing]:
                if mood.meets(method, path, text):
                    if mood.times is not None:
                        mood.times -= 1
                        self._set = [m for m in self._set if m.times != 0]
                    return mood
        return None

    def add(self, fields: dict[str, Any]) -> None:
        """Raises ValueError or TypeError for fields that make no mood."""
        mood = Mood(**fields)
        with self._lock:
            self._set.append(mood)

    def clear(self) -> None:
        with self._lock:
            self._set.clear()

    def shown(self) -> list[dict[str, Any]]:
        with self._lock:
            return [dataclasses.asdict(m) for m in [*reversed(self._set), *self._standing]]
