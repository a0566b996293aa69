"""Versions of tools that are withdrawn or restored, by whom and why; and what a person accepted for one effect."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import workflows.models.fields

KEPT = """
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON workflows_toolact FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON workflows_toolact FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
"""
LOOSE = "DROP TRIGGER appended ON workflows_toolact; DROP TRIGGER whole ON workflows_toolact;"


class Migration(migrations.Migration):
    dependencies = (("workflows", "0018_look_once_more"),)
    operations = (
        migrations.AddField("effect", "accepted", models.CharField(blank=True, max_length=60)),
        migrations.CreateModel(
            "ToolAct",
            [
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("what", models.CharField(max_length=10)),
                ("by", models.CharField(max_length=100)),
                ("why", models.TextField()),
                ("at", models.DateTimeField()),
                ("seq", models.PositiveIntegerField(default=0)),
                ("head", models.CharField(blank=True, max_length=64)),
                (
                    "tool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="acts", to="workflows.tool"
                    ),
                ),
            ],
            options={"ordering": ("id",)},
        ),
        migrations.RunSQL(KEPT, LOOSE),
    )
