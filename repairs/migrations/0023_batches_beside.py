"""Batches that set cases aside, escalate them or write a fact beside them; `given`: what such an act has to know."""

import django.core.serializers.json
from django.db import migrations, models

ACTS = (
    "look_again", "claim", "release", "turn_back", "try_again", "undo_again", "fact", "snooze", "escalate",
)  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("repairs", "0022_batches_that_send")]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="given",
            field=models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder),
        ),
        migrations.AlterField(
            model_name="batch",
            name="act",
            field=models.CharField(choices=[(act, act) for act in ACTS], max_length=20),
        ),
    ]
