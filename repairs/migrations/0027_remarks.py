"""What is said beside approvals; the database takes no word of it back."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields

APPEND_ONLY = """
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON repairs_remark FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON repairs_remark FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
"""
CHANGEABLE = """
DROP TRIGGER appended ON repairs_remark;
DROP TRIGGER whole ON repairs_remark;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('repairs', '0026_broken_glass'),
        ('workflows', '0031_key_places'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='notice',
            name='what',
            field=models.CharField(choices=[('approval', 'approval'), ('case', 'case'), ('deadline', 'deadline'), ('write_off', 'write_off'), ('take_over', 'take_over'), ('escalation', 'escalation'), ('hand_over', 'hand_over'), ('budget', 'budget'), ('credential', 'credential'), ('stop', 'stop'), ('expiring', 'expiring'), ('expired', 'expired'), ('glass', 'glass'), ('remark', 'remark'), ('person', 'person')], max_length=20),
        ),
        migrations.CreateModel(
            name='Remark',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('ask', 'ask'), ('answer', 'answer'), ('not_mine', 'not_mine')], max_length=10)),
                ('words', models.TextField()),
                ('at', models.DateTimeField()),
                ('approval', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='remarks', to='workflows.approval')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(condition=models.Q(('kind', 'not_mine')), fields=('approval', 'by'), name='left_to_others_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['ask', 'answer', 'not_mine'])), name='remark_kind_known')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, CHANGEABLE),
    ]
