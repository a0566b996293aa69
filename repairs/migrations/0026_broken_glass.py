"""Broken glasses, to which only a review is ever added, and the group of who may break one."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields

KEPT = """
CREATE TRIGGER reviewed BEFORE UPDATE ON repairs_glass FOR EACH ROW
  WHEN (OLD.reviewed_at IS NOT NULL OR (NEW.what, NEW.subject, NEW.team, NEW.said, NEW.by_id, NEW.why, NEW.at, NEW.due_at)
    IS DISTINCT FROM (OLD.what, OLD.subject, OLD.team, OLD.said, OLD.by_id, OLD.why, OLD.at, OLD.due_at))
  EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER undeletable BEFORE DELETE ON repairs_glass FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON repairs_glass FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
"""
CHANGEABLE = """
DROP TRIGGER reviewed ON repairs_glass;
DROP TRIGGER undeletable ON repairs_glass;
DROP TRIGGER whole ON repairs_glass;
"""


def create_group(apps: Any, _editor: Any) -> None:
    apps.get_model("auth", "Group").objects.get_or_create(name="emergency")


class Migration(migrations.Migration):

    dependencies = [
        ('repairs', '0025_time_stands_still'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='what',
            field=models.CharField(choices=[('approval', 'approval'), ('case', 'case'), ('deadline', 'deadline'), ('write_off', 'write_off'), ('take_over', 'take_over'), ('escalation', 'escalation'), ('hand_over', 'hand_over'), ('budget', 'budget'), ('credential', 'credential'), ('stop', 'stop'), ('expiring', 'expiring'), ('expired', 'expired'), ('glass', 'glass'), ('person', 'person')], max_length=20),
        ),
        migrations.CreateModel(
            name='Glass',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('what', models.CharField(choices=[('approval', 'approval'), ('budget', 'budget'), ('policy', 'policy'), ('stop', 'stop'), ('write_off', 'write_off')], max_length=20)),
                ('subject', models.UUIDField()),
                ('team', models.CharField(blank=True, max_length=100)),
                ('said', models.CharField(max_length=400)),
                ('why', models.TextField()),
                ('at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('reviewed_at', models.DateTimeField(null=True)),
                ('verdict', models.CharField(blank=True, choices=[('right', 'right'), ('wrong', 'wrong')], max_length=10)),
                ('words', models.TextField(blank=True)),
                ('seq', models.PositiveIntegerField(default=0)),
                ('head', models.CharField(blank=True, max_length=64)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reviewed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'broken glasses',
                'ordering': ('-id',),
                'indexes': [models.Index(condition=models.Q(('reviewed_at__isnull', True)), fields=['due_at', 'id'], name='glass_to_review')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('reviewed_at__isnull', True), ('reviewed_by__isnull', True), ('verdict', ''), ('words', '')), models.Q(('reviewed_at__isnull', False), ('reviewed_by__isnull', False), ('verdict__in', ['right', 'wrong']), models.Q(('reviewed_by', models.F('by')), _negated=True)), _connector='OR'), name='a_review_is_another_person_s_and_whole'), models.CheckConstraint(condition=models.Q(('what__in', ['approval', 'budget', 'policy', 'stop', 'write_off'])), name='broken_glass_known')],
            },
        ),
        migrations.RunPython(create_group, migrations.RunPython.noop),
        migrations.RunSQL(KEPT, CHANGEABLE),
    ]
