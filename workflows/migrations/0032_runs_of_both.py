"""Agents run workflows of their own: the planner is told which go together, and finds a pair by an index."""

from django.db import migrations, models

TOGETHER = """
CREATE STATISTICS run_whose_what (mcv) ON agent_id, workflow_id, state FROM workflows_run;
ALTER STATISTICS run_whose_what SET STATISTICS 1000;
"""


class Migration(migrations.Migration):
    dependencies = [("workflows", "0031_key_places")]

    operations = [
        migrations.AddIndex("run", models.Index(fields=["workflow", "agent", "-id"], name="run_of_both")),
        migrations.RemoveIndex("run", "run_by_workflow"),
        migrations.RunSQL(TOGETHER, "DROP STATISTICS run_whose_what"),
    ]
