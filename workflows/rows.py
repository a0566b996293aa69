"""Writes and inserts many rows in one statement, whatever their number. Used by the ledger and the journal only.

Values travel as one JSON parameter and are given their types by `json_to_recordset`, so that the statement's text is
the same for 1 row and for 64 and is prepared once.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from django.db import connection, models, transaction


@contextlib.contextmanager
def together() -> Iterator[None]:
    """A transaction whose statements go out without waiting for each one's end; who fetches waits for what it fetches.

    PostgreSQL works on the last while the next is made. An error is raised by a later statement, or at the end."""
    with transaction.atomic(), connection.wrap_database_errors:
        connection.ensure_connection()
        with connection.connection.pipeline():
            yield


def now() -> dt.datetime:
    """The database's clock, which goes on inside a transaction. Asked first of all in each, so this is also where the
    planner is told, for the rest of it, that the engine reads a few rows of big tables by their indexes."""
    with connection.cursor() as cursor:
        cursor.execute(NOW)
        return cursor.fetchone()[0]  # type: ignore[no-any-return]


# Sets have no statistics: what is planned once, while a table is small, would read all of it once it is big. A server
# that compiles what it takes for expensive would take every plan for that which has no other way than a scan.
BY_INDEX = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit")
NOW = "SELECT clock_timestamp(), " + ", ".join(f"set_config('{name}', 'off', true)" for name in BY_INDEX)
NOW += ", set_config('plan_cache_mode', 'auto', true)"  # in a process that answers people too, see repairs.desk


def update(rows: Sequence[models.Model], names: tuple[str, ...], guards: Sequence[dict[str, Any]]) -> set[uuid.UUID]:
    """Writes `names` of each row where its guard still holds; returns the ids that were written.

    A guard is {"fence": int, "seq": int, "states": [str]} or a part of it; all guards of a call have the same parts.
    Raises `ValueError` for a row given twice: one of both would be written, and nobody could tell which.
    """
    if not rows:
        return set()
    if len({row.__dict__["id"].int for row in rows}) < len(rows):
        raise ValueError(f"a {type(rows[0]).__name__} is to be written twice in one set")
    data = [
        {**values(row, names), "id": row.__dict__["id"], **{f"was_{k}": v for k, v in guard.items()}}
        for row, guard in zip(rows, guards, strict=True)
    ]
    guarded = tuple(sorted(guards[0]))
    with connection.cursor() as cursor:
        cursor.execute(_update_sql(type(rows[0]), names, guarded), [encode(data)])
        return {row[0] for row in cursor.fetchall()} if guarded else {row.pk for row in rows}


def changed(rows: Sequence[Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `names` in which some row differs from what it was read as (`was`): a set needs no others written.

    Values are replaced, never changed in place, or this would not see it."""
    pairs = [(row.__dict__, row.was) for row in rows]
    return tuple(
        name for name in names if any(facts[name] is not was[name] and facts[name] != was[name] for facts, was in pairs)
    )


def insert(model: type[models.Model], data: Sequence[dict[str, Any]]) -> None:
    """Inserts rows given as dicts of column values; all have the same columns."""
    if not data:
        return
    with connection.cursor() as cursor:
        cursor.execute(_insert_sql(model, tuple(data[0])), [encode(data)])


def create(rows: Sequence[models.Model]) -> None:
    """Inserts instances, all columns, in one statement."""
    if rows:
        names = tuple(_types(type(rows[0])))
        data = [values(row, names) for row in rows]
        insert(type(rows[0]), data)


def ids(rows: Iterable[uuid.UUID]) -> str:
    """Ids as one parameter, for `= ANY (%s::uuid[])`: the driver would make an array of them one by one."""
    return "{" + ",".join([f"{i.int:032x}" for i in rows]) + "}"


def values(row: models.Model, names: Iterable[str]) -> dict[str, Any]:
    facts = row.__dict__
    return {name: facts[name] for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"{value!r} has no place in a row")


_slowly = json.JSONEncoder(default=_plain, separators=(",", ":")).encode


def encode(data: Any) -> str:
    """JSON, with moments and ids as texts. What the fast writer refuses (a number past 64 bits, half a surrogate
    pair) is left to the other, and to PostgreSQL's judgement."""
    try:
        return orjson.dumps(data, default=_plain).decode()
    except TypeError:
        return _slowly(data)


GUARD_TYPES = {"fence": "int", "seq": "int", "states": "text[]"}
GUARDS = {
    "fence": "t.fence = v.was_fence",
    "seq": "t.seq = v.was_seq",
    "states": "t.state = ANY (v.was_states)",
    "phases": "t.phase = ANY (v.was_phases)",
}


@functools.lru_cache
def _types(model: type[models.Model]) -> dict[str, str]:
    def of(field: models.Field[Any, Any]) -> str:
        kind = field.db_type(connection) or ""
        if kind.endswith("[]"):
            return "text[]"
        return "text" if kind.startswith("varchar") else kind.split(" CHECK")[0]

    return {field.attname: of(field) for field in model._meta.concrete_fields}


@functools.lru_cache
def _update_sql(model: type[models.Model], names: tuple[str, ...], guards: tuple[str, ...]) -> str:
    types = _types(model)
    columns = [f"{n} {types[n]}" for n in ("id", *names)] + [f"was_{g} {GUARD_TYPES.get(g, 'text[]')}" for g in guards]
    changes = ", ".join(f"{name} = v.{name}" for name in names)
    holds = " AND ".join(["t.id = v.id", *(GUARDS[g] for g in guards)])
    return (
        f"UPDATE {model._meta.db_table} t SET {changes} "  # noqa: S608  names come from the models
        f"FROM json_to_recordset(%s::json) AS v({', '.join(columns)}) WHERE {holds}"
        f"{' RETURNING t.id' if guards else ''}"
    )


@functools.lru_cache
def _insert_sql(model: type[models.Model], names: tuple[str, ...]) -> str:
    types = _types(model)
    columns = ", ".join(names)
    typed = ", ".join(f"{name} {types[name]}" for name in names)
    return (
        f"INSERT INTO {model._meta.db_table} ({columns}) "  # noqa: S608  names come from the models
        f"SELECT {columns} FROM json_to_recordset(%s::json) AS v({typed})"
    )
