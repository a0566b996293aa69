"""The built-in workflow of runs whose steps the agent names itself. Its owner is the agent's team, filled in at the start."""

from __future__ import annotations

from typing import Any

from django.db import migrations

SPEC = {
    "version": 1,
    "owner": "",
    "on_failure": "compensate",
    "after_irreversible": "hold",
    "deadline": 3600.0,
    "gate": "none",
    "input": {"type": "object"},
    "steps": [],
}


def create(apps: Any, _editor: Any) -> None:
    apps.get_model("workflows", "Workflow").objects.create(
        name="adhoc", version=1, digest="built-in", spec=SPEC, owner="", current=True
    )


class Migration(migrations.Migration):
    dependencies = (("workflows", "0002_history"),)
    operations = (migrations.RunPython(create, migrations.RunPython.noop),)
