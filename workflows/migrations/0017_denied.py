"""What an agent was denied, found by the agent: few rows, and the question after every trouble."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("workflows", "0016_policy_documents"),)
    operations = (
        migrations.AddIndex(
            "decision",
            models.Index(fields=["agent", "-id"], name="decision_denied", condition=models.Q(verdict="deny")),
        ),
    )
