"""Reads a list's rows for a file, part by part by keyset, and no more than a file may hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from repairs import keyset

MOST = 10_000  # rows of a file; no page counts further either
PART = 500  # rows read at once: the memory that a download takes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`name` is of the file; `columns` are the names of what `values` gives of a row; `order` is as `keyset.page` wants
    it."""

    name: str
    columns: tuple[str, ...]
    rows: QuerySet[Any]
    order: tuple[str, ...]
    values: Callable[[Any], Sequence[object]]


@dataclasses.dataclass(slots=True)
class Told:
    """What the reader says of itself at its end."""

    rows: int = 0
    cut: bool = False


def read(table: Table, told: Told) -> Iterator[Sequence[object]]:
    """Each row's values. `told` is filled in meanwhile: how many there were, and whether more are left out."""
    after: list[Any] | None = None
    while True:
        size = min(PART, MOST - told.rows)
        found = table.rows.filter(keyset.beyond(table.order, after)) if after else table.rows
        part = list(found.order_by(*table.order)[: size + 1])
        for row in part[:size]:
            told.rows += 1
            yield table.values(row)
        if len(part) <= size:
            return
        if told.rows >= MOST:
            told.cut = True
            return
        after = [keyset.plain(getattr(part[size - 1], name.lstrip("-"))) for name in table.order]
