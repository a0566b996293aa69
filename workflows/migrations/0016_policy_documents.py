"""The policy as documents that nobody changes once they are active, the first of them; and what effects are pinned to."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path
from typing import Any

import django.core.serializers.json
from django.db import migrations, models
from django.utils import timezone

from workflows import authority, journal

STARTER = uuid.UUID("00000000-0000-7000-8000-000000000001")  # the same everywhere, and older than any other
TEXT = Path(authority.__file__).parent / "policy" / "shipped" / "starter-1.yaml"

TRIGGERS = """
CREATE FUNCTION makegood_policy_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state <> 'draft' THEN
    RAISE EXCEPTION 'policy % is %: it is not changed any more, draft a new version', OLD.id, OLD.state
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER kept BEFORE UPDATE ON workflows_policy FOR EACH ROW EXECUTE FUNCTION makegood_policy_kept();
CREATE TRIGGER undeletable BEFORE DELETE ON workflows_policy FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON workflows_policy FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER undeletable BEFORE DELETE ON workflows_approval FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON workflows_approvalvote
  FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER pinned BEFORE UPDATE OF origin, targets, reach, chain_class, profile_digest
  ON workflows_effect FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
"""
LOOSE = """
DROP TRIGGER kept ON workflows_policy;
DROP TRIGGER undeletable ON workflows_policy;
DROP TRIGGER whole ON workflows_policy;
DROP TRIGGER undeletable ON workflows_approval;
DROP TRIGGER appended ON workflows_approvalvote;
DROP TRIGGER pinned ON workflows_effect;
DROP FUNCTION makegood_policy_kept();
"""


def ship(apps: Any, _editor: Any) -> None:
    """Active from the beginning, with the entry that every subject of history has."""
    text, now = TEXT.read_text(), timezone.now()
    policy = apps.get_model("workflows", "Policy")(
        id=STARTER, name="starter", version=1, text=text, digest=hashlib.sha256(text.encode()).hexdigest(),
        state="active", drafted_by="shipped", drafted_at=now, activated_by="shipped", activated_at=now,
        active_from=now, why="what a new installation begins with",
    )  # fmt: skip
    event = journal.Event(subject=policy, kind="policy", run_id=None, event="ship", after="active", actor="shipped")
    [(entry, _)] = journal.chain([event], at=now)
    policy.save()
    apps.get_model("workflows", "Entry").objects.create(**entry)


def json_list() -> models.JSONField[Any, Any]:
    return models.JSONField(blank=True, default=list, encoder=django.core.serializers.json.DjangoJSONEncoder)


class Migration(migrations.Migration):
    dependencies = (("workflows", "0015_reading_targets"),)
    operations = (
        migrations.AddField("effect", "origin", json_list()),
        migrations.AddField("effect", "targets", json_list()),
        migrations.AddField("effect", "reach", models.PositiveIntegerField(default=0)),
        migrations.AddField("effect", "chain_class", models.CharField(blank=True, max_length=30)),
        migrations.AddField("effect", "profile_digest", models.CharField(blank=True, max_length=32)),
        migrations.AddField("effect", "implementation", models.CharField(blank=True, max_length=32)),
        migrations.AddField("tool", "withdrawn_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("tool", "withdrawn_by", models.CharField(blank=True, max_length=100)),
        migrations.AddField("tool", "withdrawn_why", models.TextField(blank=True)),
        migrations.RunPython(ship, migrations.RunPython.noop),
        migrations.RunSQL(TRIGGERS, LOOSE),
    )
