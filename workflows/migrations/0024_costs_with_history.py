"""What tools are taken to cost, as a subject of history. Nothing of it could be set by anybody before."""

from __future__ import annotations

from django.core.serializers.json import DjangoJSONEncoder
from django.db import migrations, models

import workflows.models.fields


class Migration(migrations.Migration):
    dependencies = (("workflows", "0023_install"),)
    operations = (
        migrations.DeleteModel("ToolCost"),
        migrations.CreateModel(
            "ToolCost",
            [
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tool", models.CharField(max_length=200, unique=True)),
                (
                    "worst",
                    models.JSONField(
                        blank=True, default=dict, encoder=DjangoJSONEncoder
                    ),
                ),
                ("looks", models.PositiveSmallIntegerField(default=0)),
                ("seq", models.PositiveIntegerField(default=0)),
                ("head", models.CharField(blank=True, max_length=64)),
            ],
        ),
    )
