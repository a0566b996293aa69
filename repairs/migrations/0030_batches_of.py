"""A batch says whose cases it holds, so that the list of who has teams reads no items."""

import django.contrib.postgres.fields
from django.db import migrations, models

FILL = """
UPDATE repairs_batch b SET agents = ARRAY(
  SELECT DISTINCT c.agent_id FROM repairs_batchitem i JOIN repairs_case c ON c.id = i.case_id
  WHERE i.batch_id = b.id ORDER BY c.agent_id
);
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""


def agents(**null):
    return django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None, **null)


class Migration(migrations.Migration):
    dependencies = [("repairs", "0029_batches_alone")]

    operations = [
        migrations.AddField("batch", "agents", agents(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField("batch", "agents", agents()),
        migrations.AddConstraint(
            "batch",
            models.CheckConstraint(condition=models.Q(("agents__len__gt", 0)), name="batch_is_somebodys"),
        ),
    ]
