"""The simulated tool under watch: it keeps keys only where it says so, sleeps past leases, and notes who is inside."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

from tests.engine.simulated import WORLD, SimTool
from workflows import bells
from workflows.outcomes import Outcome, Refused
from workflows.tools.call import Call

LONGEST_SLEEP = 2.0  # seconds: what it waits for may never come, where nobody else works
LOSE_LEASE = """
UPDATE workflows_effect SET lease_until = now() - interval '1 hour' WHERE state = 'dispatched' AND key = %s
"""
GOES_ON = {"lost": ("dispatched",), "decided": ("dispatched", "unknown", "ready")}

_lock = threading.Lock()
_inside: Counter[str] = Counter()
together: list[str] = []  # scopes on which two were inside at once
sleepers: dict[str, str] = {}  # tool: until when the next call sleeps


def wake_up() -> None:
    """A new story begins."""
    together.clear()
    sleepers.clear()
    _inside.clear()


class Watched(SimTool):
    def send(self, call: Call) -> Outcome:
        if until := sleepers.pop(self.name, ""):
            _sleep(call, GOES_ON[until])
            return super().send(call)
        scopes = self.scopes(call)
        with _lock:
            _inside.update(scopes)
            together.extend(scope for scope in scopes if _inside[scope] > 1)
        try:
            return super().send(call)
        finally:
            with _lock:
                _inside.subtract(scopes)

    def _do(self, call: Call) -> None:
        if call.operation != "execute" or self.spec["idempotency"]["by"] == "native_key":
            super()._do(call)
            return
        with WORLD.lock:
            WORLD.made.append(call.key)
            WORLD.things[call.key] = call.arguments

    def poll(self, call: Call, poll: Any) -> Outcome:
        """Work that failed in the end did nothing: what it had begun is taken back before the provider says so."""
        answer = super().poll(call, poll)
        if isinstance(answer, Refused) and call.operation == "execute":
            WORLD.remove(call.key)
        elif isinstance(answer, Refused):
            WORLD.things[call.forward_key] = call.arguments
        return answer


def _sleep(call: Call, while_in: tuple[str, ...]) -> None:
    """Until its lease is long over, and others have gone so far."""
    with bells.connect() as own:
        own.execute(LOSE_LEASE, [call.key])
        end = time.monotonic() + LONGEST_SLEEP
        while time.monotonic() < end:
            row = own.execute("SELECT state FROM workflows_effect WHERE key = %s", [call.key]).fetchone()
            if row is None or row[0] not in while_in:
                return
            time.sleep(0.005)
