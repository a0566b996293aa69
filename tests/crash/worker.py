"""A worker in a process of its own that stops at a named point and waits there, to be killed or to be put to sleep.

`python -m tests.crash.worker POINT CALLS [LEASE]`: drains until idle; at POINT of its CALLS calls it prints "reached",
and goes on when a line comes in. LEASE shortens what a lease lasts beyond a call's timeout. The engine knows none of
this: its functions are replaced here, in this process only.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import django


def main(point: str, calls: int, lease: float | None) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from workflows import drain
    from workflows.engine import call, dispatch

    if lease is not None:
        dispatch.LEASE_BEYOND_TIMEOUT, call.LEASE_SPARE = lease, 0.0
    all_answered_first(calls)
    POINTS[point](calls)
    work = drain.Drain(slots=8)
    work.until_idle(60)
    work.close()


def all_answered_first(calls: int) -> None:
    """Nothing is recorded before every call of the group is done, so that all of them stop at the same point."""
    from workflows.drain import Drain

    real = Drain._record

    def wait_for_all(self: Any, *, claim: bool) -> bool:
        first_group = len(self._sends) == calls
        return False if first_group and not all(f.done() for f in self._sends) else real(self, claim=claim)

    Drain._record = wait_for_all  # type: ignore[method-assign]


def reached() -> None:
    """Says so once, and waits for a line. Who started this may be gone: then the input ends, and it goes on."""
    print("reached", flush=True)
    sys.stdin.readline()


def before_intent(_calls: int) -> None:
    """All of it is written, nothing is committed."""
    from workflows import ledger

    ledger.intend = after(ledger.intend, reached)


def after_intent(_calls: int) -> None:
    from workflows.engine import call

    call.begin = before(reached, call.begin)


def in_call(_calls: int) -> None:
    """The provider holds the calls; it tells the test itself."""


def after_call(_calls: int) -> None:
    """Every answer is here; the transaction that writes them is not committed."""
    from workflows import ledger

    ledger.complete = after(ledger.complete, reached)


def after_outcome(_calls: int) -> None:
    from workflows import salvage

    salvage.record_all = after(salvage.record_all, reached)


def at_the_wire(calls: int) -> None:
    """In the threads of the calls, each past its last check, before its first byte."""
    from workflows.tools.http import HttpTool

    real, waiting = HttpTool.send, threading.Barrier(calls, action=reached)

    def send(self: Any, request: Any) -> Any:
        if request.attempt == 1:
            waiting.wait()
        return real(self, request)

    HttpTool.send = send  # type: ignore[method-assign,assignment]


def before(act: Callable[[], None], real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def both(*args: Any, **kwargs: Any) -> Any:
        act()
        return real(*args, **kwargs)

    return both


def after(real: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(real)
    def both(*args: Any, **kwargs: Any) -> Any:
        result = real(*args, **kwargs)
        act()
        return result

    return both


POINTS = {f.__name__: f for f in (before_intent, after_intent, in_call, after_call, after_outcome, at_the_wire)}

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else None)
