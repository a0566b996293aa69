"""Views of the queue that people keep for themselves."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import workflows.models.fields


class Migration(migrations.Migration):

    dependencies = [
        ('repairs', '0017_time_and_runbooks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.UUIDField(default=workflows.models.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('view', models.CharField(max_length=20)),
                ('query', models.TextField(blank=True)),
                ('saved_at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name', 'id'),
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='a_saved_view_has_a_name_of_its_own')],
            },
        ),
    ]
