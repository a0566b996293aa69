"""Batches, numbered by a sequence. What was chosen is frozen once the batch is no draft any more; the database says so."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields

FROZEN = """
CREATE FUNCTION makegood_batch_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.batch_id, NEW.case_id, NEW.version) IS DISTINCT FROM (OLD.batch_id, OLD.case_id, OLD.version) THEN
      RAISE EXCEPTION 'what a batch acts on is never changed';
    END IF;
    RETURN NEW;
  END IF;
  IF (SELECT state FROM repairs_batch WHERE id = coalesce(NEW.batch_id, OLD.batch_id)) <> 'draft' THEN
    RAISE EXCEPTION 'what a batch acts on is frozen once it was asked for';
  END IF;
  RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER frozen BEFORE INSERT OR UPDATE OR DELETE ON repairs_batchitem
  FOR EACH ROW EXECUTE FUNCTION makegood_batch_frozen();
"""
THAWED = "DROP TRIGGER frozen ON repairs_batchitem; DROP FUNCTION makegood_batch_frozen();"


class Migration(migrations.Migration):

    dependencies = [
        ('repairs', '0010_notices_of_time_and_people'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL("CREATE SEQUENCE repairs_batch_number", "DROP SEQUENCE repairs_batch_number"),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.BigIntegerField(db_default=models.Func(models.Value('repairs_batch_number'), function='nextval'), editable=False, unique=True)),
                ('act', models.CharField(choices=[('look_again', 'look_again'), ('claim', 'claim'), ('release', 'release')], max_length=20)),
                ('state', models.CharField(choices=[('draft', 'draft'), ('asked', 'asked'), ('running', 'running'), ('stopped', 'stopped'), ('done', 'done'), ('declined', 'declined')], default='draft', max_length=10)),
                ('chosen', models.CharField(max_length=300)),
                ('count', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('why', models.TextField(blank=True)),
                ('needs_second', models.BooleanField(default=False)),
                ('alone', models.BooleanField(default=False)),
                ('made_at', models.DateTimeField()),
                ('asked_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('seq', models.PositiveIntegerField(default=0)),
                ('head', models.CharField(blank=True, max_length=64)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to=settings.AUTH_USER_MODEL)),
                ('second', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-number',),
            },
        ),
        migrations.CreateModel(
            name='BatchItem',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('version', models.CharField(max_length=40)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('done', 'done'), ('skipped', 'skipped'), ('refused', 'refused'), ('failed', 'failed')], default='waiting', max_length=10)),
                ('said', models.CharField(blank=True, max_length=300)),
                ('at', models.DateTimeField(null=True)),
                ('batch', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='items', to='repairs.batch')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batch_items', to='repairs.case')),
            ],
            options={
                'ordering': ('id',),
            },
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(condition=models.Q(('state__in', ['draft', 'asked', 'running'])), fields=['state', 'id'], name='batch_open'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'asked', 'running', 'stopped', 'done', 'declined'])), name='batch_state_known'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('state', 'draft'), models.Q(('why', ''), _negated=True), _connector='OR'), name='batch_says_why'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ('running', 'stopped', 'done')), _negated=True), ('needs_second', False), models.Q(('alone', True), ('second__isnull', True)), models.Q(('alone', False), ('second__isnull', False), models.Q(('second', models.F('by')), _negated=True)), _connector='OR'), name='batch_takes_two_people_or_says_alone'),
        ),
        migrations.AddIndex(
            model_name='batchitem',
            index=models.Index(condition=models.Q(('state', 'waiting')), fields=['batch', 'id'], name='batch_item_waiting'),
        ),
        migrations.AddConstraint(
            model_name='batchitem',
            constraint=models.UniqueConstraint(fields=('batch', 'case'), name='a_case_is_once_in_a_batch'),
        ),
        migrations.AddConstraint(
            model_name='batchitem',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'done', 'skipped', 'refused', 'failed'])), name='batch_item_state_known'),
        ),
        migrations.AddConstraint(
            model_name='batchitem',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('at__isnull', True), ('state', 'waiting')), models.Q(('state', 'waiting'), _negated=True), _connector='OR'), name='batch_item_waits_or_was_met'),
        ),
        migrations.RunSQL(FROZEN, THAWED),
    ]
