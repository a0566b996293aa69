"""Empties the tables between tests, past the triggers that refuse it everywhere else. Imported by conftest.

Rows that migrations made (roles, the built-in workflow, the first team) stay, as they do in a real installation.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql.operations import DatabaseOperations

KEPT = {"django_migrations", "django_content_type", "auth_permission", "auth_group", "auth_group_permissions"}
STARTER = "00000000-0000-7000-8000-000000000001"  # the shipped policy, and the entry that tells of it
ONLY = {
    "workflows_workflow": "name <> 'adhoc'",
    "workflows_team": "name <> 'operations'",
    "workflows_policy": f"id <> '{STARTER}'",
    "workflows_entry": f"subject_id <> '{STARTER}'",
}


def empty(self: DatabaseOperations, _statements: list[str]) -> None:
    connection: Any = self.connection
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        )
        tables = [row[0] for row in cursor.fetchall() if row[0] not in KEPT]
        deletes = "; ".join(f'DELETE FROM "{t}" WHERE {ONLY.get(t, "true")}' for t in tables)
        cursor.execute("SET session_replication_role = replica")
        try:
            # One simple query: server-side binding takes one statement at a time.
            with connection.connection.cursor() as plain:
                plain.execute(deletes, prepare=False)
        finally:
            cursor.execute("SET session_replication_role = DEFAULT")


DatabaseOperations.execute_sql_flush = empty  # type: ignore[method-assign,assignment]
