"""Asks for pages as a person's browser does, and keeps what each took: statements, time, plans."""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.console import plans
from repairs import keyset

TURNS = 7  # with the first one enough for the driver to have prepared each statement


@dataclasses.dataclass(frozen=True, slots=True)
class Taken:
    """`times`: milliseconds of each turn; `busy`: of them those in which a core worked at it, here or in PostgreSQL;
    `place`: first or last, of a list's pages."""

    name: str
    address: str
    viewer: str
    place: str
    status: int
    statements: int
    times: tuple[float, ...]
    busy: tuple[float, ...]
    bytes: int
    plans: list[plans.Plan]

    @property
    def file(self) -> bool:
        """What is sent while it is read, ten thousand rows long: no page that somebody waits for."""
        return self.name.endswith("export")

    @property
    def median(self) -> float:
        return statistics.median(self.times or [0.0])

    @property
    def worked(self) -> float:
        return statistics.median(self.busy or [0.0])

    @property
    def whole(self) -> list[str]:
        return sorted({table for plan in self.plans for table in plan.whole})

    @property
    def rows(self) -> int:
        return max((plan.rows for plan in self.plans), default=0)


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """A list that a page showed: what `keyset.page` was asked for."""

    rows: Any
    order: Any
    of: str
    at: Any

    def last(self) -> str:
        """The cursor of its last whole page; "" where there is but one."""
        backwards = [name[1:] if name.startswith("-") else f"-{name}" for name in self.order]
        before = self.rows.order_by(*backwards)[keyset.SIZE : keyset.SIZE + 1].first()
        return keyset.cursor_after(before, order=self.order, of=self.of, at=self.at) if before else ""


def browser(login: str) -> Client:
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=login), backend="django.contrib.auth.backends.ModelBackend")
    return client


def take(
    client: Client, name: str, address: str, viewer: str, *, turns: int = TURNS, run: bool = True
) -> Iterator[Taken]:
    """What the page takes; of a list the last page too."""
    with listening() as lists:
        yield once(client, name, address, viewer, "first", turns, run=run)
    for listed in lists[:1]:
        if cursor := listed.last():
            joined = f"{address}{'&' if '?' in address else '?'}after={quote(cursor)}"
            yield once(client, name, joined, viewer, "last", turns, run=run)


def once(client: Client, name: str, address: str, viewer: str, place: str, turns: int, *, run: bool) -> Taken:
    with CaptureQueriesContext(connection) as seen:
        answer = client.get(address)
        size = len(answer.getvalue())  # of a file too: it is read while it is sent
    asked = [one["sql"] for one in seen.captured_queries]
    times, busy = [], []
    for _ in range(turns):
        begun, before = time.perf_counter(), used()
        client.get(address).getvalue()
        times.append((time.perf_counter() - begun) * 1000)
        busy.append((used() - before) * 1000)
    found = plans.plans(asked, run=run) if answer.status_code == 200 else []
    return Taken(name, address, viewer, place, answer.status_code, len(asked), tuple(times), tuple(busy), size, found)


def used() -> float:
    """Seconds of a core that this process and its PostgreSQL server process have used. On Linux, with both on it."""
    told = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return time.process_time() + (int(told.read_text().split()[0]) / 1e9 if told.exists() else 0)


@contextlib.contextmanager
def listening() -> Iterator[list[Listed]]:
    """The lists that are shown meanwhile."""
    lists: list[Listed] = []
    paged = keyset.page

    def page(rows: Any, *, order: Any, of: str, at: Any, **more: Any) -> keyset.Page:
        lists.append(Listed(rows, order, of, at))
        return paged(rows, order=order, of=of, at=at, **more)

    with mock.patch.object(keyset, "page", page):
        yield lists
