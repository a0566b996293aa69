"""What somebody could do to history who owns the database: past the triggers, as PostgreSQL lets a superuser."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction


@contextlib.contextmanager
def past_triggers() -> Iterator[None]:
    """No trigger fires inside, as during a restore."""
    with transaction.atomic():
        sql("SET LOCAL session_replication_role = replica")
        yield
        sql("SET LOCAL session_replication_role = DEFAULT")


def sql(text: str, *parameters: Any) -> int:
    """Executes one statement; how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(text, list(parameters))
        return int(cursor.rowcount)
