"""Versions of the policy at the door, and what persons were asked and said about one effect each."""

from __future__ import annotations

import django.core.serializers.json
import django.db.models.deletion
import django_fsm
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields


class Migration(migrations.Migration):
    dependencies = [
        ("workflows", "0010_authority_of_agents"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Approval",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("digest_version", models.PositiveSmallIntegerField()),
                (
                    "fields",
                    models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder),
                ),
                ("tool", models.CharField(max_length=200)),
                ("act", models.CharField(max_length=20)),
                ("effect_class", models.CharField(max_length=30)),
                ("reason", models.CharField(max_length=100)),
                ("why", models.TextField(blank=True)),
                ("policy", models.CharField(max_length=120)),
                (
                    "origin",
                    models.JSONField(blank=True, default=list, encoder=django.core.serializers.json.DjangoJSONEncoder),
                ),
                (
                    "target",
                    models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True),
                ),
                (
                    "question",
                    models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True),
                ),
                (
                    "approvers",
                    models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True),
                ),
                ("needed", models.PositiveSmallIntegerField()),
                ("round", models.PositiveSmallIntegerField(default=1)),
                ("asked_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "state",
                    django_fsm.FSMField(
                        choices=[
                            ("asked", "asked"),
                            ("granted", "granted"),
                            ("refused", "refused"),
                            ("expired", "expired"),
                            ("void", "void"),
                            ("spent", "spent"),
                        ],
                        default="asked",
                        max_length=50,
                        protected=True,
                    ),
                ),
                ("void_reason", models.CharField(blank=True, max_length=50)),
                ("detail", models.TextField(blank=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("spent_at", models.DateTimeField(blank=True, null=True)),
                ("fence", models.PositiveIntegerField(default=0)),
                ("changed_at", models.DateTimeField()),
                ("seq", models.PositiveIntegerField(default=0)),
                ("head", models.CharField(blank=True, max_length=64)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="approvals", to="workflows.agent"
                    ),
                ),
                (
                    "effect",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="approvals", to="workflows.effect"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="approvals", to="workflows.run"
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="ApprovalVote",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("verdict", models.CharField(max_length=10)),
                ("why", models.TextField(blank=True)),
                ("at", models.DateTimeField()),
                ("opened_at", models.DateTimeField(blank=True, null=True)),
                ("seen_digest", models.CharField(max_length=64)),
                ("alone", models.BooleanField(default=False)),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="votes", to="workflows.approval"
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approval_votes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Policy",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                (
                    "state",
                    django_fsm.FSMField(
                        choices=[("draft", "draft"), ("active", "active"), ("discarded", "discarded")],
                        default="draft",
                        max_length=50,
                        protected=True,
                    ),
                ),
                ("drafted_by", models.CharField(max_length=100)),
                ("drafted_at", models.DateTimeField()),
                ("why", models.TextField(blank=True)),
                (
                    "differences",
                    models.JSONField(blank=True, encoder=django.core.serializers.json.DjangoJSONEncoder, null=True),
                ),
                ("activated_by", models.CharField(blank=True, max_length=100)),
                ("activated_at", models.DateTimeField(blank=True, null=True)),
                ("active_from", models.DateTimeField(blank=True, null=True)),
                ("seq", models.PositiveIntegerField(default=0)),
                ("head", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "verbose_name_plural": "policies",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "active")), fields=["-active_from", "-id"], name="policy_in_force"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("name", "version"), name="one_policy_version"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "active"), _negated=True),
                            models.Q(
                                ("activated_at__isnull", False),
                                ("active_from__isnull", False),
                                models.Q(("activated_by", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="active_policy_has_its_time_and_person",
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="approval",
            index=models.Index(
                condition=models.Q(("state__in", ("asked", "granted"))),
                fields=["expires_at", "id"],
                name="approval_live",
            ),
        ),
        migrations.AddIndex(
            model_name="approval",
            index=models.Index(fields=["state", "-id"], name="approval_by_state"),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("asked", "granted"))),
                fields=("effect",),
                name="one_live_approval_of_an_effect",
            ),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["asked", "granted", "refused", "expired", "void", "spent"])),
                name="approval_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "spent"), _negated=True),
                    models.Q(("fence__gt", 0), ("spent_at__isnull", False)),
                    _connector="OR",
                ),
                name="spent_approval_names_its_send",
            ),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.CheckConstraint(condition=models.Q(("needed__gt", 0)), name="approval_needs_somebody"),
        ),
        migrations.AddConstraint(
            model_name="approvalvote",
            constraint=models.UniqueConstraint(
                fields=("approval", "by", "seen_digest"), name="one_vote_a_person_and_digest"
            ),
        ),
    ]
