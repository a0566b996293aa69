"""A world in memory, and a tool of kind `python` that acts on it: the edge that engine tests swap in.

`WORLD.script(key or tool, operation, [...])` says what the next sends and looks meet; without a script all goes well.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from workflows.outcomes import Acknowledged, NotSent, Outcome, Pending, Refused, Sighting, Unknown, Verdict
from workflows.tools.base import Tool
from workflows.tools.call import Call


@dataclasses.dataclass
class World:
    """`things`: key → arguments of what exists now; `made`: every key booked, in order; `sends`: every send."""

    things: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    made: list[str] = dataclasses.field(default_factory=list)
    sends: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)
    scripts: dict[tuple[str, str], deque[Any]] = dataclasses.field(default_factory=lambda: defaultdict(deque))
    honours_keys: bool = True
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    inside: Callable[[Call], None] | None = None  # called in the middle of each send, outside any lock

    def script(self, tool: str, what: str, *answers: str) -> None:
        """`what`: execute | compensate | look | look_undone; `answers` are words that `SimTool` knows."""
        self.scripts[tool, what].extend(answers)

    def next(self, tool: str, what: str) -> str:
        with self.lock:
            script = self.scripts.get((tool, what))
            return script.popleft() if script else "well"

    def book(self, call: Call) -> None:
        with self.lock:
            if self.honours_keys and call.key in self.made:
                return
            self.made.append(call.key)
            self.things[call.key] = call.arguments

    def remove(self, key: str) -> bool:
        with self.lock:
            return self.things.pop(key, None) is not None


WORLD = World()


def fresh() -> World:
    WORLD.__dict__.update(World().__dict__)
    return WORLD


class SimTool(Tool):
    """Answers as scripted: well | lost_after | lost_before | temporary | refused | not_sent | crash | lies."""

    def send(self, call: Call) -> Outcome:
        WORLD.sends.append((self.name, call.operation, call.key))
        if WORLD.inside:
            WORLD.inside(call)
        match WORLD.next(self.name, call.operation):
            case "well":
                self._do(call)
                return Acknowledged(result={"id": f"id-{call.key}"})
            case "lost_after":
                self._do(call)
                return Unknown(reason="the answer was lost")
            case "lost_before":
                return Unknown(reason="the answer was lost")
            case "temporary":
                return Refused(reason="busy", temporary=True)
            case "refused":
                return Refused(reason="no")
            case "not_sent":
                return NotSent(reason="no connection")
            case "pending":
                self._do(call)
                return Pending(poll={"at": call.key})
            case "lies":
                return Acknowledged(result={"id": f"id-{call.key}"})
            case "crash":
                raise RuntimeError("a bug of ours")
            case other:
                raise AssertionError(other)

    def _do(self, call: Call) -> None:
        if call.operation == "execute":
            WORLD.book(call)
        else:
            WORLD.remove(call.forward_key)

    def look(self, call: Call) -> Sighting:
        what = "look" if call.operation == "execute" else "look_undone"
        key = call.key if call.operation == "execute" else call.forward_key
        there = key in WORLD.things
        match WORLD.next(self.name, what):
            case "well":
                found = there if what == "look" else not there
                result = {"id": f"id-{key}"} if found and what == "look" else {}
                return Sighting(verdict=Verdict.FOUND if found else Verdict.ABSENT, result=result)
            case "unreachable":
                return Sighting(verdict=Verdict.INCONCLUSIVE, reached=False, reason="no connection")
            case word:
                return Sighting(verdict=Verdict(word), reason=f"scripted {word}")

    def poll(self, call: Call, poll: Any) -> Outcome:
        match WORLD.next(self.name, "poll"):
            case "well":
                return Acknowledged(result={"id": f"id-{call.key}"})
            case "still":
                return Pending(poll=poll)
            case "unreachable":
                return NotSent(reason="no connection")
            case "refused":
                return Refused(reason="it failed there")
            case other:
                raise AssertionError(other)


PROFILE: dict[str, Any] = {
    "effect_class": "reversible",
    "access": "write",
    "environment": "trusted",
    "observability": "authoritative_read",
    "autonomy": "auto",
    "privileges": [],
    "owner": "sim-desk",
    "customer_visible": True,
    "residue": "A thing stands.",
}
RETRY = {"attempts": 3, "first": 0.01, "max": 0.02, "within": 60.0}
ASKS = {"settle": 0.0, "every": 0.01, "looks": 3, "within": 60.0}


def spec(
    *,
    keyed: bool = True,
    verify: bool = True,
    undo: bool | dict[str, Any] = True,
    late: float = 0.0,
    scopes: list[str] | None = None,
    by: str = "",
    undo_residue: str = "",
    limits: dict[str, Any] | None = None,
    **profile: Any,
) -> dict[str, Any]:
    """A normalised spec of a simulated tool, quick enough for tests."""
    idempotency = {"by": by or ("native_key" if keyed else "none"), "retention": 3600.0}
    found: dict[str, Any] = {
        "version": 1,
        "kind": "python",
        "class": "tests.engine.simulated.SimTool",
        "profile": {**PROFILE, **profile},
        "idempotency": idempotency,
        "scopes": scopes or [],
        "arguments": {"type": "object"},
        "execute": {"timeout": 5.0, "late": late, "poll": {"every": 0.01, "within": 5.0}},
        "retry": RETRY,
    }
    if limits:
        found["limits"] = limits
    if verify:
        found["verify"] = dict(ASKS)
    if undo:
        undoing = {"timeout": 5.0, "late": late, "idempotency": idempotency, "retry": RETRY, "residue": undo_residue}
        found["compensate"] = {**undoing, **({"verify": dict(ASKS)} if verify else {})}
        found["compensate"] |= undo if isinstance(undo, dict) else {}
    return found
