"""How many calls the looks at an act cost, where they cost at all: a number in the place of a yes that nobody had set."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("workflows", "0020_demotions"),)
    operations = (
        migrations.RemoveField("toolcost", "looks"),
        migrations.AddField("toolcost", "looks", models.PositiveSmallIntegerField(default=0)),
    )
