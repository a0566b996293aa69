"""Second factors, what was changed about people, and the groups of three more roles."""

from __future__ import annotations

from typing import Any

import django.core.serializers.json
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields

ROLES = ("author", "auditor", "admin")

APPEND_ONLY = """
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON repairs_personact FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON repairs_personact FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
"""
CHANGEABLE = """
DROP TRIGGER appended ON repairs_personact;
DROP TRIGGER whole ON repairs_personact;
"""


def create_groups(apps: Any, _editor: Any) -> None:
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):

    dependencies = [
        ('repairs', '0005_acts_on_effects'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PersonAct',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('login', models.CharField(max_length=150)),
                ('what', models.CharField(max_length=30)),
                ('by', models.CharField(max_length=100)),
                ('why', models.TextField(blank=True)),
                ('facts', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('at', models.DateTimeField()),
                ('seq', models.PositiveIntegerField(default=0)),
                ('head', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='SecondFactor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sealed', models.TextField()),
                ('confirmed_at', models.DateTimeField(null=True)),
                ('last_step', models.BigIntegerField(default=0)),
                ('codes', models.JSONField(blank=True, default=list, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('wait_until', models.DateTimeField(null=True)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='second_factor', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.RunPython(create_groups, migrations.RunPython.noop),
        migrations.RunSQL(APPEND_ONLY, CHANGEABLE),
    ]
