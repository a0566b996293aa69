"""A provider that is down for a while, and then takes so many calls a second and no more. Looks count too."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

from tests.engine.simulated import WORLD, SimTool
from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused, Sighting, Unknown, Verdict
from workflows.tools.call import Call


@dataclasses.dataclass
class Place:
    """`calls`: when each came, and whether it was served. `down`: not_sent | unknown, while it is."""

    now: Callable[[], float] = lambda: 0.0
    up_at: float = 0.0
    capacity: float = 1e9
    down: str = "not_sent"
    wait: float | None = None  # how long it asks those to wait for whom it has no room
    calls: list[tuple[float, bool]] = dataclasses.field(default_factory=list)
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def serve(self) -> str:
        """well | full | down"""
        with self.lock:
            at = self.now()
            served = sum(1 for t, well in self.calls if well and t > at - 1.0)
            word = "down" if at < self.up_at else "well" if served < self.capacity else "full"
            self.calls.append((at, word == "well"))
            return word

    def busiest(self, since: float) -> int:
        """The most calls in any second after that moment."""
        times = sorted(t for t, _ in self.calls if t >= since)
        return max((sum(1 for other in times if t <= other < t + 1.0) for t in times), default=0)


PLACE = Place()


def fresh(**fields: Any) -> Place:
    PLACE.__dict__.update(Place(**fields).__dict__)
    return PLACE


class Crowded(SimTool):
    def send(self, call: Call) -> Outcome:
        match PLACE.serve():
            case "well":
                WORLD.sends.append((self.name, call.operation, call.key))
                self._do(call)
                return Acknowledged(result={"id": f"id-{call.key}"})
            case "full":
                return Refused(reason="too many", temporary=True, retry_after=PLACE.wait)
            case _ if PLACE.down == "unknown":
                return Unknown(reason="no answer")
            case _:
                return NotSent(reason="no connection")

    def look(self, call: Call) -> Sighting:
        if PLACE.serve() != "well":
            return Sighting(verdict=Verdict.INCONCLUSIVE, reached=False, reason="no room", retry_after=PLACE.wait)
        return super().look(call)
