"""Pages of rows without OFFSET: each page begins after the last row of the one before. Used by the console's lists.

A cursor is good for its list, filter and order, and for who sees what they see for whom it was made: in another team's
hands it would go on from a row that isn't there for them.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import uuid
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from typing import Any

from django.core import signing
from django.core.exceptions import SuspiciousOperation
from django.db.models import Q, QuerySet

from repairs.words.marked import _

SIZE = 50
_sees: ContextVar[str] = ContextVar("sees", default="")  # as `clock` knows the zone: one request's


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """`next` is the cursor of what follows, "" on the last page; `first` says that nothing came before."""

    rows: list[Any]
    next: str
    first: bool
    at: dt.datetime


def seen_by(teams: Collection[str] | None) -> None:
    """From here on cursors are those of who sees the work of these teams; None: of all."""
    _sees.set("" if teams is None else json.dumps(sorted(teams)))


def salt(of: str) -> str:
    return f"keyset:{_sees.get()}:{of}"


def read(cursor: str, *, of: str) -> tuple[dt.datetime, list[Any]] | None:
    """The moment at which the first page was made, and the last row's keys. A cursor of another list is refused."""
    if not cursor:
        return None
    try:
        stamp, keys = signing.loads(cursor, salt=salt(of))
        return dt.datetime.fromisoformat(stamp), keys
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise SuspiciousOperation(_("This page's address was cut or changed; begin the list anew.")) from error


def page(
    rows: QuerySet[Any], *, order: Sequence[str], of: str, at: dt.datetime, after: list[Any] | None, size: int = SIZE
) -> Page:
    """One page in `order` (names, "-" for descending; together unique, none null). `of` names list and filter."""
    found = first_of(rows.filter(beyond(order, after)) if after else rows, order=order, size=size + 1)
    cursor = cursor_after(found[size - 1], order=order, of=of, at=at) if len(found) > size else ""
    return Page(rows=found[:size], next=cursor, first=after is None, at=at)


def first_of(rows: QuerySet[Any], *, order: Sequence[str], size: int) -> list[Any]:
    """The first rows in this order, in one query. Where they are sorted, only their keys are: whole rows of a few
    thousand cases take seven times as long."""
    if len(order) == 1:
        return list(rows.order_by(*order)[:size])  # as an index has them
    keys = rows.order_by(*order).values("pk")[:size]
    return list(rows.filter(pk__in=keys).order_by(*order))


def cursor_after(row: Any, *, order: Sequence[str], of: str, at: dt.datetime) -> str:
    """What the address of the page that begins after this row carries."""
    last = [plain(getattr(row, name.lstrip("-"))) for name in order]
    return signing.dumps([at.isoformat(), last], salt=salt(of))


def beyond(order: Sequence[str], keys: Sequence[Any]) -> Q:
    """Rows after these keys: the first differing name decides."""
    condition = Q()
    same: dict[str, Any] = {}
    for name, key in zip(order, keys, strict=True):
        column = name.lstrip("-")
        condition |= Q(**same, **{f"{column}__{'lt' if name.startswith('-') else 'gt'}": key})
        same[column] = key
    return condition


def plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else value
