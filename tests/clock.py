"""A database whose clock can be stepped: all of the engine's time comes from there, so minutes pass in no time.

`clock_timestamp()` is found along the search path, and a test's own comes first. Only the connection of the test's
thread is led astray; whoever connects beside it lives in real time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from workflows.drain import Drain, next_due

PATIENCE = 20_000  # turns: more than any story takes


class Clock:
    """Real time, and `ahead` seconds more. `passed`: of the steps those that were forward."""

    def __init__(self) -> None:
        self.ahead = self.passed = 0.0
        self._execute(MAKE)
        self._execute("SET search_path = stepped, public, pg_catalog")

    def step(self, seconds: float) -> None:
        """May be negative: clocks are set back too."""
        self.ahead += seconds
        self.passed += max(seconds, 0.0)
        self._execute(f"UPDATE stepped.clock SET ahead = make_interval(secs => {self.ahead})")

    def now(self) -> float:
        """Seconds since 1970, for threads that know no database."""
        return dt.datetime.now(dt.UTC).timestamp() + self.ahead

    def elsewhere(self) -> float:
        """The same where this clock isn't: set back, it undoes nothing that happened outside."""
        return dt.datetime.now(dt.UTC).timestamp() + self.passed

    def close(self) -> None:
        self._execute("RESET search_path")
        self._execute("DROP SCHEMA stepped CASCADE")

    def pass_time(self, drain: Drain, until: Callable[[], bool] = lambda: False) -> None:
        """Drains, and steps to what is due next whenever nothing else is to be done, until nothing is."""
        for _ in range(PATIENCE):
            if until():
                return
            if drain.turn():
                continue
            due = next_due()
            if drain.under_way:
                drain.wait(0.01)
            elif due is None:
                return
            elif due > 0:
                self.step(due)
            else:
                drain.rest(0.0)
        raise AssertionError("time never came to an end")

    def _execute(self, text: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(text)


MAKE = """
CREATE SCHEMA stepped;
CREATE TABLE stepped.clock AS SELECT interval '0' AS ahead;
CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT pg_catalog.clock_timestamp() + ahead FROM stepped.clock';
"""


@pytest.fixture
def clock(transactional_db: None) -> Iterator[Clock]:
    made = Clock()
    yield made
    made.close()
