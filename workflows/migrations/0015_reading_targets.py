"""When a drain is to read the target of what persons are asked about."""

from __future__ import annotations

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0014_budgets")]

    operations = [
        migrations.AddField(
            model_name="approval",
            name="read_due",
            field=models.DateTimeField(default=django.utils.timezone.now, null=True),
        ),
        migrations.AddIndex(
            model_name="approval",
            index=models.Index(
                condition=models.Q(("read_due__isnull", False), ("state", "asked")),
                fields=["read_due"],
                name="approval_to_be_read",
            ),
        ),
    ]
