"""Wakes of runs in a table of their own, and room on the pages of runs: most moves of a run touch no index any more."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models.deletion import PROTECT

ROOM = "ALTER TABLE workflows_run SET (fillfactor = 70);"


class Migration(migrations.Migration):
    dependencies = (("workflows", "0008_run_lists"),)
    operations = (
        migrations.CreateModel(
            "Wake",
            [
                (
                    "run",
                    models.OneToOneField(
                        db_constraint=False, on_delete=PROTECT, primary_key=True, serialize=False, to="workflows.run"
                    ),
                ),
                ("at", models.DateTimeField()),
            ],
            options={"indexes": [models.Index(fields=["at"], name="wake_at")]},
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
    )
