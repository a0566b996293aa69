"""A case knows its run's agent, so that who sees some teams' cases reads no runs to find them."""

import django.db.models.deletion
from django.db import migrations, models

# What the update leaves to be checked at the end is checked before the column is altered.
FILL = """
UPDATE repairs_case c SET agent_id = r.agent_id FROM workflows_run r WHERE r.id = c.run_id;
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""
PINNED = """
CREATE TRIGGER pinned BEFORE UPDATE OF run_id, agent_id ON repairs_case FOR EACH ROW
  WHEN (OLD.run_id IS DISTINCT FROM NEW.run_id OR OLD.agent_id IS DISTINCT FROM NEW.agent_id)
  EXECUTE FUNCTION makegood_refuse();
"""


def agent(**null):
    kept = django.db.models.deletion.PROTECT
    return models.ForeignKey(db_index=False, on_delete=kept, related_name="+", to="workflows.agent", **null)


class Migration(migrations.Migration):
    dependencies = [("repairs", "0023_batches_beside"), ("workflows", "0031_key_places")]

    operations = [
        migrations.AddField("case", "agent", agent(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField("case", "agent", agent()),
        migrations.AddIndex("case", models.Index(fields=["agent", "-number"], name="case_of_agent")),
        migrations.RunSQL(PINNED, "DROP TRIGGER pinned ON repairs_case"),
    ]
