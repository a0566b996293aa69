"""Holds a Makegood on one machine together for `up`: one a data folder, its database, its children, and their end.

1. Takes the folder's lock, ends what a killed `up` left there, and only then says that a port is taken.
2. Opens the database: the one of DATABASE_URL, or the embedded one.
3. Keeps the children running and says when /health/ready answers 200.
4. On Ctrl-C, SIGTERM or SIGHUP ends all of them; if it is killed itself they end since their pipes close.
"""

from __future__ import annotations

import dataclasses
import http.client
import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from django.conf import settings

from config import database
from config.house import children, postgres, preflight
from config.house.errors import SetupError
from config.house.family import Family
from config.house.locks import Lock

GLANCE = 1.0  # seconds: a doctor who only looks whether the lock is free holds it for a moment
TICK = 0.25  # seconds between two looks while nothing happens
HEALTH_EVERY = 5.0  # seconds between two looks at /health/ready once it was ready
DEAF_LOOKS = 3  # so many of them in a row saying the queue is deaf, and the queue is started anew
GRACE_LOOKS = 9  # more of them for a queue that was just started: it has to come up on a busy machine first
PATIENCE = 30.0  # seconds of a start after which what keeps it is said, once each
QUEUE = "queue"  # the name of the health check, and of the child that it is about


@dataclasses.dataclass
class House:
    """What `up` holds. say: prints one line for the person who started it."""

    folder: Path
    port: int
    say: Callable[[str], None]
    _lock: Lock | None = None
    _lease: postgres.Lease | None = None
    _family: Family | None = None
    _stop: bool = False
    _deaf: int = 0
    _said: set[str] = dataclasses.field(default_factory=set)

    def __enter__(self) -> House:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)
        try:
            self._take_folder()
            preflight.port_free(self.port)
            self._open_database()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._family:
            self._family.end()
        if self._lease:
            self._lease.close(wait=True)
        if self._lock:
            self._lock.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def keep(self, members: Sequence[children.Child], *, ready: Callable[[], None]) -> None:
        """Keeps the children running until asked to stop; calls `ready` once, when all is well for the first time."""
        self._family = family = Family(members, self.folder, self.say)
        was_ready, look, began = False, 0.0, time.monotonic()
        while not self._stop:
            family.start_due({"MAKEGOOD_UP": str(self.port)})
            if time.monotonic() >= look:
                problems = self._problems()
                if problems == {} and not was_ready:
                    was_ready = True
                    ready()
                elif was_ready:
                    self._mind_the_queue(problems)
                elif time.monotonic() - began > PATIENCE:
                    self._say_what_keeps(problems or {})
                look = time.monotonic() + (HEALTH_EVERY if was_ready else TICK)
            self._mind_the_database()
            family.wait(TICK)
        self.say("Stopping.")

    def _take_folder(self) -> None:
        self._lock = Lock(self.folder / "up.lock")
        if not self._lock.try_take(GLANCE):
            raise SetupError(
                f"Makegood already runs from this data folder: {self._lock.read() or 'it is just starting'}.",
                setting="MAKEGOOD_DATA",
                value=str(self.folder),
                way_out="Use that one, end it, or name another data folder.",
            )
        self._lock.note(f"process {os.getpid()}, {self.url}")
        if left := children.end_leftovers(self.folder):
            self.say(f"Ended what an earlier start had left: {', '.join(left)}.")

    def _open_database(self) -> None:
        if self._lease or not os.environ.get("DATABASE_URL"):
            self._lease = postgres.join(self.folder)
            database.use(self._lease.url)
        preflight.answers(os.environ["DATABASE_URL"])
        if self._lease is None and preflight.pooled(os.environ["DATABASE_URL"]):
            os.environ[database.POOLED] = "1"
            settings.MAKEGOOD_POOLED = True
            database.use(os.environ["DATABASE_URL"])
            self.say("DATABASE_URL leads through a transaction pooler: work is found by looking once a second.")

    def _mind_the_database(self) -> None:
        """Starts the embedded server again if it died; the children must know only if its address changed."""
        if self._lease is None or self._lease.holds():
            return
        self.say("The embedded PostgreSQL ended; starting it again.")
        before = self._lease.url
        self._lease.close()
        self._open_database()
        if self._family and self._lease.url != before:
            self._family.renew()

    def _mind_the_queue(self, problems: dict[str, str] | None) -> None:
        """Processes can live and be deaf: the canary of /health/ready tells, and a new start helps."""
        self._deaf = self._deaf + 1 if problems and QUEUE in problems else 0
        if self._family and self._deaf >= DEAF_LOOKS:
            self._deaf = -GRACE_LOOKS
            self.say("The queue has not answered for a while; starting it anew.")
            self._family.renew(QUEUE)

    def _say_what_keeps(self, problems: dict[str, str]) -> None:
        """Who waits for "ready" in vain must not have to guess."""
        for name in problems.keys() - self._said:
            self._said.add(name)
            self.say(f"Not ready yet: {problems[name]}")

    def _problems(self) -> dict[str, str] | None:
        """What /health/ready names; {} when all is well, None when it doesn't answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            return dict(json.load(connection.getresponse())["problems"])
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
            return None
        finally:
            connection.close()

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        """While the children run the loop ends; before and after that, and the second time, at once."""
        if self._stop or self._family is None:
            raise KeyboardInterrupt
        self._stop = True
        self._family.wake()
