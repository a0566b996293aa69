"""Loads a ledger of so many effects and cases past the engine, chunk by chunk. Called by the benchmark and a test.

1. Tools, agents and people are declared; history gets its partitions of the past months, as it would have had in time.
2. Of each chunk of runs two temporary tables are filled, and from them every table by one INSERT ... SELECT.
3. The planner's statistics are gathered.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import psycopg
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.utils import timezone

from benchmarks.console import declared, made, world

SPAN = dt.timedelta(days=90)
CHUNK = 10_000  # runs: two temporary tables of a few megabytes, and a line of progress every few seconds
EFFECTS_OF_A_RUN = 4.9  # about: some failed early, some were undone
SMALL = 50_000  # one run in so many is the small team's
GOING = 80  # runs that are still at work, at least: as many as there are ways to wait, twice

# What a column takes that isn't named, by the type of its model's field.
EMPTY: tuple[tuple[type[models.Field[Any, Any]], str], ...] = (
    (models.BooleanField, "false"),
    (models.IntegerField, "0"),
    (models.FloatField, "0"),
    (models.DateTimeField, "now()"),
    (models.DurationField, "'0'"),
    (ArrayField, "'{}'"),
)


def load(effects: int, cases: int, say: Callable[[str], None] = print) -> None:
    runs = max(int(effects / EFFECTS_OF_A_RUN), cases)
    declared.declare()
    connection.ensure_connection()
    with psycopg.ClientCursor(connection.connection) as cursor:  # it takes several statements at a time
        cursor.execute("SET session_replication_role = replica")  # the triggers that hold the engine to its word
        try:
            partitions(cursor)
            cursor.execute(world.FUNCTIONS, {"tools": list(declared.TOOLS)})
            statements = [insert(*one) for one in made.MADE]
            given = {"begin": timezone.now() - SPAN, "span": SPAN, "runs": runs, "every": runs // cases}
            given |= {"small": min(SMALL, runs // 3), "going": max(runs // 100, GOING)}
            for first in range(0, runs, CHUNK):
                chunk(cursor, statements, {**given, "first": first, "last": min(first + CHUNK, runs) - 1})
                say(f"{min(first + CHUNK, runs):,} of {runs:,} runs")
            for one in made.AT_LAST:
                cursor.execute(insert(*one), {})
            cursor.execute(
                "SELECT setval(s, greatest(nextval(s), (SELECT max(number) FROM repairs_case)))"
                " FROM (VALUES ('repairs_case_number')) AS named(s)"
            )
            cursor.execute("SELECT setval('workflows_epoch', greatest(nextval('workflows_epoch'), %s))", [runs])
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("DROP TABLE a_run, an_effect, an_agent, a_flow, a_tool")
        cursor.execute("ANALYZE")


def chunk(cursor: Any, statements: list[str], given: dict[str, Any]) -> None:
    cursor.execute("TRUNCATE a_run, an_effect")
    cursor.execute(world.RUNS, given)
    cursor.execute(world.EFFECTS, {})
    cursor.execute("ANALYZE a_run, an_effect")
    for statement in statements:
        cursor.execute(statement, {})


def insert(table: str, named: dict[str, str], source: str) -> str:
    """The statement that fills a table: named columns as said, others null or empty."""
    model = next(model for model in apps.get_models() if model._meta.db_table == table)
    fields = {str(field.column): field for field in model._meta.concrete_fields}
    if unknown := set(named) - set(fields):
        raise LookupError(
            f"{table} has no column {', '.join(sorted(unknown))} any more; say so in benchmarks.console.made"
        )
    wanted = {
        name: named.get(name) or empty(field) for name, field in fields.items() if name in named or not field.null
    }
    names = ", ".join(f'"{name}"' for name in wanted)
    return f"INSERT INTO {table} ({names}) SELECT {', '.join(wanted.values())} FROM {source}"


def empty(field: Any) -> str:
    if isinstance(field, models.JSONField):
        return f"'{json.dumps(field.get_default())}'"
    return next((text for kind, text in EMPTY if isinstance(field, kind)), "''")


def partitions(cursor: Any) -> None:
    """Those of the past months: in an installation they were made when their month was ahead."""
    month = (timezone.now() - SPAN).astimezone(dt.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    while month < timezone.now():
        after = (month + dt.timedelta(days=32)).replace(day=1)
        for table in ("workflows_entry", "workflows_attempt", "workflows_look"):
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {table}_{month:%Y_%m} PARTITION OF {table} FOR VALUES"
                f" FROM (makegood_uuid_floor('{month:%Y-%m-%d}Z')) TO (makegood_uuid_floor('{after:%Y-%m-%d}Z'))"
            )
        month = after
