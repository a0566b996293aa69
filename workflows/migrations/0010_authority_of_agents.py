"""What agents may do and for whom, teams as rows, and what was changed about agents. Old agents keep all their rights."""

from __future__ import annotations

from typing import Any

import django.core.serializers.json
import django.db.models.deletion
from django.db import migrations, models

import workflows.models.fields

KEPT = """
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON workflows_agentact FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON workflows_agentact FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER for_whom BEFORE UPDATE OF on_behalf_of ON workflows_effect
  FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
"""
LOOSE = """
DROP TRIGGER appended ON workflows_agentact;
DROP TRIGGER whole ON workflows_agentact;
DROP TRIGGER for_whom ON workflows_effect;
"""


def name_teams(apps: Any, _editor: Any) -> None:
    """A row for each team that agents were given to by name, and for the one that is nobody's choice."""
    names = set(apps.get_model("workflows", "Agent").objects.values_list("team", flat=True)) | {"operations"}
    team = apps.get_model("workflows", "Team")
    team.objects.bulk_create([team(name=name) for name in sorted(names)])


class Migration(migrations.Migration):

    dependencies = [
        ('workflows', '0009_wake'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='narrowed',
            field=models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder),
        ),
        migrations.AddField(
            model_name='agent',
            name='on_behalf_of',
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.AddField(
            model_name='agentkey',
            name='on_behalf_of',
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.AddField(
            model_name='effect',
            name='granted',
            field=models.CharField(default='read write compensate verify', max_length=40),
        ),
        migrations.AddField(
            model_name='effect',
            name='on_behalf_of',
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.AddField(
            model_name='run',
            name='narrowed',
            field=models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder),
        ),
        migrations.AddField(
            model_name='run',
            name='on_behalf_of',
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.CreateModel(
            name='AgentAct',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('what', models.CharField(max_length=30)),
                ('by', models.CharField(max_length=100)),
                ('why', models.TextField(blank=True)),
                ('facts', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('at', models.DateTimeField()),
                ('seq', models.PositiveIntegerField(default=0)),
                ('head', models.CharField(blank=True, max_length=64)),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='acts', to='workflows.agent')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='workflows.team')),
            ],
            options={
                'ordering': ('name',),
                'constraints': [models.CheckConstraint(condition=models.Q(('parent__isnull', True), models.Q(('parent', models.F('id')), _negated=True), _connector='OR'), name='team_is_not_above_itself')],
            },
        ),
        migrations.RunPython(name_teams, migrations.RunPython.noop),
        migrations.RunSQL(KEPT, LOOSE),
    ]
