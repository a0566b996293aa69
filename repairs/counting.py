"""Counts several lists in one statement, each as far as anybody counts. For the frame that every page has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

CAP = 10_000  # no page counts further


def counts(*lists: QuerySet[Any]) -> list[int]:
    """How many rows each list has, at most CAP + 1."""
    return counts_and_rows(lists, None)[0]


def counts_and_rows(
    lists: Sequence[QuerySet[Any]], wanted: QuerySet[Any] | None
) -> tuple[list[int], list[dict[str, Any]]]:
    """The same, and of one more list its few rows as JSON has them: {column: value}."""
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
    if wanted is not None:
        try:
            sql, params = wanted.query.sql_with_params()
            parts.append(f"(SELECT jsonb_agg(to_jsonb(wanted)) FROM ({sql}) AS wanted)")  # noqa: S608
            given += params
        except EmptyResultSet:
            parts.append("NULL")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", given)
        found = cursor.fetchone()
    told = found[len(lists)] if wanted is not None else None
    return [int(number) for number in found[: len(lists)]], json.loads(told) if told else []


def figures(*parts: tuple[QuerySet[Any], dict[str, str]]) -> list[dict[str, Any]]:
    """Of each list its figures as JSON has them: {name: an SQL aggregate over the list's columns}. One statement; of a
    list that can hold nothing {}."""
    asked: list[str] = []
    given: list[Any] = []
    for rows, wanted in parts:
        try:
            sql, params = rows.query.sql_with_params()
        except EmptyResultSet:
            asked.append("'{}'::jsonb")
            continue
        told = ", ".join(f"'{name}', {aggregate}" for name, aggregate in wanted.items())
        asked.append(f"(SELECT jsonb_build_object({told}) FROM ({sql}) AS listed)")  # noqa: S608  made by Django
        given += params
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT jsonb_build_array({', '.join(asked)})", given)
        found: list[dict[str, Any]] = json.loads(cursor.fetchone()[0])
    return found
