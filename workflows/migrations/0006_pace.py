"""Fewer indexes and checks written at each move: those that no query reads, and those that another guard makes needless.

A row of an agent, tool, workflow or effect is never deleted (the database refuses), so what is copied from rows just
read needs no check that it exists; the trigger `intent` proves an attempt's effect anyway. Those checks also locked the
one agent and the one tool that all workers share.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models.deletion import PROTECT

KEPT_FOR_EVER = ("agent", "tool", "workflow")

TRIGGERS = "".join(
    f"CREATE TRIGGER undeletable BEFORE DELETE ON workflows_{name} FOR EACH ROW EXECUTE FUNCTION makegood_refuse();"
    for name in KEPT_FOR_EVER
)
# A step is written twice after it is made: with room on its page, no index is touched.
ROOM = "ALTER TABLE workflows_step SET (fillfactor = 60);"
# Django makes it for LIKE on a key; scopes are compared whole.
PATTERNS = """
DO $$ DECLARE found text; BEGIN
  FOR found IN SELECT indexname FROM pg_indexes WHERE tablename = 'workflows_scopehold' AND indexname LIKE '%\\_like' LOOP
    EXECUTE format('DROP INDEX %I', found);
  END LOOP;
END $$;
"""


def reference(to: str, **options: Any) -> models.ForeignKey[Any, Any]:
    return models.ForeignKey(on_delete=PROTECT, to=f"workflows.{to}", **options)


class Migration(migrations.Migration):
    dependencies = (("workflows", "0005_gauge"),)
    operations = (
        migrations.AlterField("run", "agent", reference("agent", db_index=False)),
        migrations.AlterField("run", "workflow", reference("workflow", db_index=False)),
        migrations.AlterField("step", "run", reference("run", db_index=False, related_name="steps")),
        migrations.AlterField("step", "tool", reference("tool", db_index=False)),
        migrations.AlterField("effect", "agent", reference("agent", db_index=False, db_constraint=False)),
        migrations.AlterField("effect", "tool", reference("tool", db_index=False, db_constraint=False)),
        migrations.AlterField("decision", "agent", reference("agent", db_index=False, db_constraint=False)),
        migrations.AlterField(
            "decision", "effect", reference("effect", db_constraint=False, null=True, related_name="decisions")
        ),
        migrations.AlterField("attempt", "effect", reference("effect", db_constraint=False, related_name="sends")),
        migrations.AlterField("look", "effect", reference("effect", db_constraint=False, related_name="looks")),
        migrations.AlterField("scopeuse", "scope", models.CharField(max_length=500)),
        migrations.AddIndex("scopeuse", models.Index(fields=["scope"], name="uses_of_scope")),
        migrations.RunSQL(TRIGGERS + ROOM + PATTERNS, migrations.RunSQL.noop),
    )
