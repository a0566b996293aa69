"""A system check: warns of what nothing covers in the workflows that are current, as each one's failure story names it.

Runs where the database is asked: `manage.py check --database default`. `apply` says the same of what it applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004  Django's own name
from django.db import connections

from repairs.words.story import gaps_in
from workflows.models import Tool, Workflow

GAP = "repairs.W001"


@register(Tags.database)
def failure_stories(
    app_configs: Sequence[AppConfig] | None = None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    if "default" not in (databases or ()) or not ready():
        return []
    tools = {tool.name: (tool.version, tool.spec) for tool in Tool.objects.filter(current=True)}
    found = gaps_in(dict(Workflow.objects.filter(current=True).values_list("name", "spec")), tools)
    hint = "Declare what covers it, or leave it and know it: /workflows/{name}/ tells the whole story."
    return [
        Warning(f"{name}, step {step}: {gap}", hint=hint.format(name=name), obj=name, id=GAP)
        for name, step, gap in found
    ]


def ready() -> bool:
    """Migrations check the database before the tables are there."""
    there = connections["default"].introspection.table_names()
    return {Tool._meta.db_table, Workflow._meta.db_table} <= set(there)
