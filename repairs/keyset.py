"""Pages of rows without OFFSET: each page begins after the last row of the one before. Used by the console's lists."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

from django.core import signing
from django.core.exceptions import SuspiciousOperation
from django.db.models import Q, QuerySet

SIZE = 50


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """`next` is the cursor of what follows, "" on the last page; `first` says that nothing came before."""

    rows: list[Any]
    next: str
    first: bool
    at: dt.datetime


def read(cursor: str, *, of: str) -> tuple[dt.datetime, list[Any]] | None:
    """The moment at which the first page was made, and the last row's keys. A cursor of another list is refused."""
    if not cursor:
        return None
    try:
        stamp, keys = signing.loads(cursor, salt=f"keyset:{of}")
        return dt.datetime.fromisoformat(stamp), keys
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise SuspiciousOperation("This page's address was cut or changed; begin the list anew.") from error


def page(
    rows: QuerySet[Any], *, order: Sequence[str], of: str, at: dt.datetime, after: list[Any] | None, size: int = SIZE
) -> Page:
    """One page in `order` (names, "-" for descending; together unique, none null). `of` names list and filter."""
    found = list((rows.filter(beyond(order, after)) if after else rows).order_by(*order)[: size + 1])
    cursor = ""
    if len(found) > size:
        last = [plain(getattr(found[size - 1], name.lstrip("-"))) for name in order]
        cursor = signing.dumps([at.isoformat(), last], salt=f"keyset:{of}")
    return Page(rows=found[:size], next=cursor, first=after is None, at=at)


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
