"""Cases, acts and persons."""

import django.core.serializers.json
import django.db.models.deletion
import django_fsm
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("workflows", "0003_adhoc"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Numbers begin at 1001, so that a case is never taken for a count.
        migrations.RunSQL("CREATE SEQUENCE repairs_case_number START 1001", "DROP SEQUENCE repairs_case_number"),
        migrations.CreateModel(
            name="Case",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "number",
                    models.BigIntegerField(
                        db_default=models.Func(models.Value("repairs_case_number"), function="nextval"),
                        editable=False,
                        unique=True,
                    ),
                ),
                (
                    "state",
                    django_fsm.FSMField(
                        choices=[
                            ("open", "open"),
                            ("waiting", "waiting"),
                            ("resolved", "resolved"),
                            ("written_off", "written_off"),
                        ],
                        default="open",
                        max_length=50,
                        protected=True,
                    ),
                ),
                ("sentence", models.CharField(max_length=500)),
                (
                    "reasons",
                    models.JSONField(blank=True, default=list, encoder=django.core.serializers.json.DjangoJSONEncoder),
                ),
                ("harm", models.CharField(max_length=20)),
                ("rank", models.PositiveSmallIntegerField()),
                ("rank_reason", models.CharField(max_length=200)),
                ("customers", models.PositiveIntegerField(default=0)),
                (
                    "value",
                    models.JSONField(blank=True, default=list, encoder=django.core.serializers.json.DjangoJSONEncoder),
                ),
                ("owner", models.CharField(max_length=100)),
                ("deadline", models.DateTimeField()),
                ("cutoff", models.DateTimeField(blank=True, null=True)),
                ("cutoff_reason", models.CharField(blank=True, max_length=200)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("fence", models.PositiveIntegerField(default=0)),
                ("opened_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("reopened", models.PositiveIntegerField(default=0)),
                ("seq", models.PositiveIntegerField(default=0)),
                ("head", models.CharField(blank=True, max_length=64)),
                (
                    "claimed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="claims",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="cases", to="workflows.run"
                    ),
                ),
            ],
            options={
                "ordering": ("-number",),
            },
        ),
        migrations.CreateModel(
            name="Act",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("claim", "claim"),
                            ("take_over", "take_over"),
                            ("release", "release"),
                            ("look_again", "look_again"),
                            ("turn_back", "turn_back"),
                            ("propose_write_off", "propose_write_off"),
                            ("decline_write_off", "decline_write_off"),
                            ("write_off", "write_off"),
                        ],
                        max_length=30,
                    ),
                ),
                ("alone", models.BooleanField(default=False)),
                ("why", models.TextField(blank=True)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("done", "done"),
                            ("asked", "asked"),
                            ("proposed", "proposed"),
                            ("refused", "refused"),
                        ],
                        max_length=20,
                    ),
                ),
                ("detail", models.TextField(blank=True)),
                (
                    "facts",
                    models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder),
                ),
                ("at", models.DateTimeField()),
                (
                    "answers",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="answer", to="repairs.act"
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="acts", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "effect",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="acts",
                        to="workflows.effect",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="acts", to="repairs.case"
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("must_change", models.BooleanField(default=False)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="person", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("state__in", ("open", "waiting"))),
                fields=["rank", "cutoff", "id"],
                name="case_live",
            ),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("open", "waiting"))), fields=("run",), name="one_open_case_per_run"
            ),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "waiting", "resolved", "written_off"])),
                name="case_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at__isnull", True), ("state__in", ("open", "waiting"))),
                    models.Q(("closed_at__isnull", False), ("state__in", ("resolved", "written_off"))),
                    _connector="OR",
                ),
                name="case_is_closed_at_some_time_or_live",
            ),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("claimed_by__isnull", True), ("lease_until__isnull", True)),
                    models.Q(("claimed_by__isnull", False), ("fence__gt", 0), ("lease_until__isnull", False)),
                    _connector="OR",
                ),
                name="claim_is_a_lease_with_a_fence",
            ),
        ),
        migrations.AddConstraint(
            model_name="act",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "write_off"), ("outcome", "done"), _negated=True),
                    models.Q(("alone", True), ("second__isnull", True)),
                    models.Q(
                        ("alone", False), ("second__isnull", False), models.Q(("second", models.F("by")), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="write_off_takes_two_people_or_says_alone",
            ),
        ),
    ]
