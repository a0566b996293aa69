"""Broken glasses of batches: what sends, or is large, done alone in an emergency is reviewed like all else."""

from django.db import migrations, models

BROKEN = ("approval", "batch", "budget", "policy", "stop", "write_off")


class Migration(migrations.Migration):
    dependencies = [("repairs", "0028_batches_are_told")]

    operations = [
        migrations.AlterField(
            model_name="glass",
            name="what",
            field=models.CharField(choices=[(what, what) for what in BROKEN], max_length=20),
        ),
        migrations.RemoveConstraint(model_name="glass", name="broken_glass_known"),
        migrations.AddConstraint(
            model_name="glass",
            constraint=models.CheckConstraint(condition=models.Q(what__in=BROKEN), name="broken_glass_known"),
        ),
    ]
