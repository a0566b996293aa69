"""Notices of batches that wait for a second person."""

from django.db import migrations, models

KINDS = (
    "approval", "case", "deadline", "write_off", "take_over", "escalation", "hand_over", "budget", "credential", "stop",
    "expiring", "expired", "glass", "remark", "batch", "person",
)  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("repairs", "0027_remarks")]

    operations = [
        migrations.AlterField(
            model_name="notice",
            name="what",
            field=models.CharField(choices=[(kind, kind) for kind in KINDS], max_length=20),
        ),
    ]
