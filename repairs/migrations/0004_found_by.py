"""Cases are found by what people call them, and linked by their cause. Trigrams make a part of a name enough."""

from __future__ import annotations

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("repairs", "0003_teams_of_people"),)
    operations = (
        TrigramExtension(),
        migrations.AddField(
            model_name="case", name="found_by", field=models.TextField(blank=True, default=""), preserve_default=False
        ),
        migrations.AddField(
            model_name="case",
            name="signature",
            field=models.CharField(blank=True, max_length=200, default=""),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("state__in", ("open", "waiting"))), fields=["signature", "id"], name="case_cause"
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass("found_by", name="gin_trgm_ops"), name="case_found_by"
            ),
        ),
    )
