"""An effect knows since when nobody could look at it, so that what could not be checked is counted and paged."""

from django.db import migrations, models

UNCHECKED = ["acknowledged", "blocked", "pending", "stuck", "unknown"]
# Since the first look on which none was answered. What is at rest is left as it is: a page shows none of it.
FILL = """
UPDATE workflows_effect e SET unreached_since = f.since, unreached = f.says
FROM (
  SELECT l.effect_id, min(l.begun_at) AS since, (array_agg(l.reason ORDER BY l.id DESC))[1] AS says
  FROM workflows_effect o JOIN workflows_look l ON l.effect_id = o.id
  WHERE o.state IN ('acknowledged', 'blocked', 'pending', 'stuck', 'unknown') AND NOT l.reached
    AND NOT EXISTS (SELECT 1 FROM workflows_look r WHERE r.effect_id = o.id AND r.reached AND r.id > l.id)
  GROUP BY l.effect_id
) f
WHERE f.effect_id = e.id;
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [("workflows", "0032_runs_of_both")]

    operations = [
        migrations.AddField("effect", "unreached", models.TextField(blank=True)),
        migrations.AddField("effect", "unreached_since", models.DateTimeField(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddIndex(
            "effect",
            models.Index(
                condition=models.Q(("state__in", UNCHECKED), ("unreached_since__isnull", False)),
                fields=["unreached_since", "id"],
                include=("tool", "agent"),
                name="effect_unchecked",
            ),
        ),
    ]
