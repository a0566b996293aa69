"""Reads ledger rows as instances, many at a time and quickly. Used by the verbs that work on sets.

Every statement has one text whatever the number of rows, so that it is prepared once. Rows come in PostgreSQL's binary
form and go into the instance as they are, past Django's conversion of each value. Nothing is joined: what a verb needs
of other rows it fetches once per set and puts in by `give`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models.base import ModelState
from psycopg.pq import Format

M = TypeVar("M", bound=models.Model)

# The parser in C, past the wrappers that look for white space: PostgreSQL writes none before or after.
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def fetch(model: type[M], tail: str, params: Sequence[Any] = ()) -> list[M]:
    """Whole rows of the model's table `t`; `tail` is WHERE, ORDER BY, LIMIT and FOR, with constant text."""
    names, documents, select = _shape(model)
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY
        cursor.execute(select + tail, params)
        found = cursor.fetchall()
    made = [_made(model, names, documents, row) for row in found]
    if remember := getattr(model, "remember", None):
        for instance in made:
            remember(instance)
    return made


def new(model: type[M], **facts: Any) -> M:
    """A row to be inserted, with its defaults, as the model itself would make it of columns: for hundreds at a time."""
    plain, made = _defaults(model)
    instance = model.__new__(model)
    values = instance.__dict__
    values.update(plain)
    values.update(facts)
    for name, make in made:
        if name not in facts:
            values[name] = make()
    state = ModelState()
    state.fields_cache = {}
    values["_state"] = state
    return instance


def give(instance: models.Model, name: str, value: models.Model | None) -> None:
    """Sets a relation whose row is known, without asking whether it fits: the caller found it by its id."""
    instance._state.fields_cache[name] = value


def _made(model: type[M], names: tuple[str, ...], documents: tuple[str, ...], row: tuple[Any, ...]) -> M:
    instance = model.__new__(model)
    facts = dict(zip(names, row, strict=True))
    for name in documents:
        text = facts[name]
        if text is not None:
            facts[name] = EMPTY[text]() if text in EMPTY else _scan(text, 0)[0]
    state = ModelState()
    state.__dict__ = {"adding": False, "db": DEFAULT_DB_ALIAS, "fields_cache": {}}
    facts["_state"] = state
    instance.__dict__ = facts
    return instance


EMPTY: dict[str, Callable[[], Any]] = {"{}": dict, "[]": list}


@functools.lru_cache
def _defaults(model: type[models.Model]) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
    fields = model._meta.concrete_fields
    made = [(f.attname, f.default) for f in fields if callable(f.default) and f.has_default()]
    names = {name for name, _ in made}
    return {f.attname: f.get_default() for f in fields if f.attname not in names}, made


@functools.lru_cache
def _shape(model: type[models.Model]) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """(names of the columns, those of JSON, which travel as text and are parsed here, the statement's beginning)."""
    fields = model._meta.concrete_fields
    documents = tuple(f.attname for f in fields if isinstance(f, models.JSONField))
    columns = ", ".join(f"t.{f.column}::text" if f.attname in documents else f"t.{f.column}" for f in fields)
    return tuple(f.attname for f in fields), documents, f"SELECT {columns} FROM {model._meta.db_table} t "  # noqa: S608
