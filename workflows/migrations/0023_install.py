"""Which database server this installation was last seen on, to notice that it was restored."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("workflows", "0022_reads"),)
    operations = (
        migrations.CreateModel(
            "Install",
            [
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("identity", models.CharField(max_length=100)),
                ("since", models.DateTimeField()),
            ],
            options={"constraints": [models.CheckConstraint(condition=models.Q(id=1), name="one_install")]},
        ),
    )
