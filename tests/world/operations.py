"""The lying provider's long-running work: answers 202 with a poll address, and what a poll of it shows."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable

from tests.world.api import Reply
from tests.world.switches import Switch

PREFIX = "/operations/"


@dataclasses.dataclass(slots=True)
class Operation:
    reply: Reply
    left: int
    fails: bool
    finish: Callable[[], None] | None  # books at the end, where the plan didn't book at once


class Operations:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._operations: dict[str, Operation] = {}

    def begin(self, reply: Reply, plan: Switch, url: str) -> Reply:
        """The 202. Booked at once with `book="before"` (some providers do), else when the last poll says ok."""
        with self._lock:
            name = f"op-{len(self._operations) + 1}"
            at_once = plan.book == "before" and not plan.fails
            finish = None if at_once or plan.fails or plan.book == "never" else reply.change
            self._operations[name] = Operation(reply, plan.polls, plan.fails, finish)
        plan.book = "never" if plan.book == "never" else "before"  # of the 202 itself
        change = reply.change if at_once else None
        headers = {"Operation-Location": f"{url}{PREFIX}{name}"}
        body = {"state": "running", "operation": name}
        return Reply(status=202, body=body, headers=headers, change=change, remembered=reply.remembered)

    def answer(self, target: str) -> Reply | None:
        """The answer to a poll, or None where this isn't one."""
        with self._lock:
            operation = self._operations.get(target.removeprefix(PREFIX)) if target.startswith(PREFIX) else None
            if operation is None:
                return None
            if operation.left > 0:
                operation.left -= 1
                return Reply(status=200, body={"state": "running"})
            if operation.fails:
                return Reply(status=200, body={"state": "failed", "error": "it didn't work out"})
            if operation.finish:
                operation.finish()
                operation.finish = None
            return Reply(status=200, body={"state": "ok", "id": operation.reply.body["id"]})
