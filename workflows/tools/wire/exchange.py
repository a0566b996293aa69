"""Sends one request over a kept or a new connection, and puts the connection by for the next."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading

from workflows.tools import urls
from workflows.tools.wire.connection import IDLE, Connection, Origin
from workflows.tools.wire.messages import Answer, Deadline, NotLeft, Request

# As many as one drain calls at once against one provider; more would only sit idle.
MOST_KEPT = 16

_kept: dict[Origin, list[Connection]] = {}
_lock = threading.Lock()


def exchange(request: Request, *, timeout: float) -> Answer:
    """The whole answer, whatever its status. `timeout`: seconds for everything from the name to the last byte.

    Raises `NotLeft` or `Forbidden` where nothing was sent, `Lost` where that can't be known.
    """
    deadline = Deadline(timeout)
    connection = _taken(urls.origin(request.url), deadline)
    try:
        answer = connection.exchange(request, deadline)
    except BaseException:
        connection.close()
        raise
    _put_by(connection)
    return answer


def forget() -> None:
    """Closes what is kept: for a forked process, which must not share a connection, and for tests."""
    kept = [connection for connections in _kept.values() for connection in connections]
    _kept.clear()
    for connection in kept:
        with contextlib.suppress(OSError):
            connection.close()


def _taken(origin: Origin, deadline: Deadline) -> Connection:
    while True:
        with _lock:
            connections = _kept.get(origin)
            connection = connections.pop() if connections else None
        if connection is None:
            try:
                return Connection(origin, deadline)
            except TimeoutError:
                raise NotLeft(f"no connection to {origin[1]}:{origin[2]} within {deadline.seconds:g} s") from None
        if connection.fresh():
            return connection
        connection.close()


def _put_by(connection: Connection) -> None:
    stale: list[Connection] = []
    with _lock:
        for origin, connections in _kept.items():
            stale += [one for one in connections if one.idle_for() > IDLE]
            _kept[origin] = [one for one in connections if one.idle_for() <= IDLE]
        here = _kept.setdefault(connection.origin, [])
        (here if connection.rest() and len(here) < MOST_KEPT else stale).append(connection)
    for one in stale:
        one.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    forget()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(forget)
