from django.db import migrations, models

import workflows.models.fields


class Migration(migrations.Migration):
    dependencies = [
        ("repairs", "0006_staff"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("approval", "approval"),
                            ("case", "case"),
                            ("deadline", "deadline"),
                            ("write_off", "write_off"),
                            ("budget", "budget"),
                            ("credential", "credential"),
                            ("stop", "stop"),
                        ],
                        max_length=20,
                    ),
                ),
                ("subject", models.UUIDField()),
                ("team", models.CharField(blank=True, max_length=100)),
                ("to", models.CharField(max_length=120)),
                ("mark", models.CharField(blank=True, max_length=30)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed"), ("moot", "moot")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("why", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(null=True)),
            ],
            options={"ordering": ("id",)},
        ),
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(condition=models.Q(("state", "waiting")), fields=["to", "id"], name="notice_waiting"),
        ),
        migrations.AddIndex(model_name="notice", index=models.Index(fields=["created_at"], name="notice_age")),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(fields=("what", "subject", "to", "mark"), name="told_once"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "sent", "failed", "moot"])), name="notice_state_known"
            ),
        ),
    ]
