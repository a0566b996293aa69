"""Counts several lists in one statement, each as far as anybody counts. For the frame that every page has."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

CAP = 10_000  # no page counts further


def counts(*lists: QuerySet[Any]) -> list[int]:
    """How many rows each list has, at most CAP + 1."""
    parts: list[str] = []
    given: list[Any] = []
    for rows in lists:
        try:
            sql, params = rows.order_by().values("pk")[: CAP + 1].query.sql_with_params()
        except EmptyResultSet:
            parts.append("0")
            continue
        parts.append(f"(SELECT count(*) FROM ({sql}) AS listed)")  # noqa: S608  made by Django
        given += params
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", given)
        return [int(number) for number in cursor.fetchone()]
