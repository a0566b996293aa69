"""What is counted of handing work over, and how a tool is used again after trouble."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workflows', '0012_stops'),
    ]

    operations = [
        migrations.AddField(
            model_name='effect',
            name='progress_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='effect',
            name='unanswered',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='effect',
            name='unseen',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='gauge',
            name='credit',
            field=models.FloatField(default=20.0),
        ),
        migrations.AddField(
            model_name='gauge',
            name='credit_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='gauge',
            name='next_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='gauge',
            name='pace',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='gauge',
            name='paced_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='gauge',
            name='paused_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='gauge',
            name='sent_before',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='gauge',
            name='steady',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='gauge',
            name='tokens',
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name='gauge',
            name='tokens_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='effect',
            index=models.Index(condition=models.Q(('reason__in', ['rate', 'breaker']), ('state', 'blocked')), fields=['tool', 'epoch', 'ordinal'], name='effect_waits_for_tool'),
        ),
    ]
