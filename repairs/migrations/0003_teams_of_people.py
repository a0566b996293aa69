"""Persons belong to teams. Who belongs to none sees all, as everybody did before."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('repairs', '0002_roles_and_history'),
        ('workflows', '0010_authority_of_agents'),
    ]

    operations = [
        migrations.AddField(
            model_name='person',
            name='teams',
            field=models.ManyToManyField(blank=True, related_name='people', to='workflows.team'),
        ),
    ]
