"""The outside of the schedules: what exists there by a clock of its own, and a tool that stays in each call until told.

It honours keys where the tool says so, books late, and reads lag behind, within what the tool declares.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable

from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused, Sighting, Unknown, Verdict
from workflows.tools.base import Tool
from workflows.tools.call import Call

PATIENCE = 30.0  # seconds: a thread that was forgotten ends by itself


@dataclasses.dataclass
class Gate:
    """One call inside. `word`: how it ends."""

    tool: str
    call: Call
    word: str = ""
    late: float = 0.0
    go: threading.Event = dataclasses.field(default_factory=threading.Event)

    def open(self, word: str, late: float = 0.0) -> None:
        self.word, self.late = word, late
        self.go.set()


@dataclasses.dataclass
class Outside:
    """`made`: every booking, by key. `changes`: (when, key, whether it is there), in order of time."""

    now: Callable[[], float] = lambda: 0.0
    free: bool = False  # calls go well by themselves
    made: list[str] = dataclasses.field(default_factory=list)
    removed: list[str] = dataclasses.field(default_factory=list)
    changes: list[tuple[float, str, bool]] = dataclasses.field(default_factory=list)
    inside: dict[str, Gate] = dataclasses.field(default_factory=dict)
    unreachable: int = 0  # looks that don't reach it, from now on
    lag: float = 0.0  # how old is what looks see
    lock: threading.RLock = dataclasses.field(default_factory=threading.RLock)

    def there(self, key: str, ago: float = 0.0) -> bool:
        at = self.now() - ago
        with self.lock:
            seen = [there for when, other, there in sorted(self.changes) if other == key and when <= at]
        return bool(seen and seen[-1])

    def book(self, key: str, *, keyed: bool, late: float) -> None:
        with self.lock:
            if keyed and key in self.made:
                return
            self.made.append(key)
            self.changes.append((self.now() + late, key, True))

    def remove(self, key: str) -> None:
        """Only what is there can be removed; what lands later stays."""
        with self.lock:
            if self.there(key):
                self.removed.append(key)
                self.changes.append((self.now(), key, False))


OUTSIDE = Outside()


def fresh(now: Callable[[], float]) -> Outside:
    OUTSIDE.__dict__.update(Outside(now=now).__dict__)
    return OUTSIDE


class Staged(Tool):
    """A call ends as its gate is told: well | lost_after | lost_before | temporary | refused | not_sent."""

    def send(self, call: Call) -> Outcome:
        gate = Gate(self.name, call)
        if OUTSIDE.free:
            gate.open("well")
        with OUTSIDE.lock:
            OUTSIDE.inside[f"{call.key} {call.attempt}"] = gate
        assert gate.go.wait(PATIENCE), "nobody let it go"
        with OUTSIDE.lock:
            OUTSIDE.inside.pop(f"{call.key} {call.attempt}", None)
        match gate.word:
            case "well":
                self._do(gate)
                return Acknowledged(result={"id": f"id-{call.key}"})
            case "lost_after":
                self._do(gate)
                return Unknown(reason="the answer was lost")
            case "lost_before":
                return Unknown(reason="the answer was lost")
            case "temporary":
                return Refused(reason="busy", temporary=True)
            case "refused":
                return Refused(reason="no")
            case "not_sent":
                return NotSent(reason="no connection")
            case other:
                raise AssertionError(other)

    def _do(self, gate: Gate) -> None:
        if gate.call.operation == "execute":
            keyed = self.spec["idempotency"]["by"] == "native_key"
            late = min(gate.late, self.timings("execute").late)
            OUTSIDE.book(gate.call.key, keyed=keyed, late=late)
        else:
            OUTSIDE.remove(gate.call.forward_key)

    def look(self, call: Call) -> Sighting:
        if OUTSIDE.unreachable > 0:
            OUTSIDE.unreachable -= 1
            return Sighting(verdict=Verdict.INCONCLUSIVE, reached=False, reason="no connection")
        forward = call.operation == "execute"
        key = call.key if forward else call.forward_key
        lag = min(OUTSIDE.lag, max(self.timings(call.operation).settle - 0.5, 0.0))
        there = OUTSIDE.there(key, lag)
        result = {"id": f"id-{key}"} if there and forward else {}
        return Sighting(verdict=Verdict.FOUND if there == forward else Verdict.ABSENT, result=result)
