"""The simulated tool under watch: it keeps keys only where it says so, and notes who is inside together."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from tests.engine.simulated import WORLD, SimTool
from workflows.outcomes import Outcome, Refused
from workflows.tools.call import Call

_lock = threading.Lock()
_inside: Counter[str] = Counter()
together: list[str] = []  # scopes on which two were inside at once


class Watched(SimTool):
    def send(self, call: Call) -> Outcome:
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
