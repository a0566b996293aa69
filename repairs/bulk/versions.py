"""A case's version: the places of the case, its run and its effects in their histories. Any move of one changes it."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, F, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, Concat

from workflows.models import Effect


def versioned(rows: QuerySet[Any], *, path: str = "") -> QuerySet[Any]:
    """The rows with `version_now`; `path` leads from a row to its case."""
    prefix = f"{path}__" if path else ""
    moves = Effect.objects.filter(run=OuterRef(f"{prefix}run")).order_by().values("run").annotate(moves=Sum("seq"))
    parts = (F(f"{prefix}seq"), F(f"{prefix}run__seq"), Coalesce(Subquery(moves.values("moves")), Value(0)))
    texts: list[Any] = []
    for part in parts:
        texts += [Value("."), Cast(part, CharField())]
    found: QuerySet[Any] = rows.annotate(version_now=Concat(*texts[1:], output_field=CharField()))
    return found
