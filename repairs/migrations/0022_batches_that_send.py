"""Batches of acts that send: what each item is about and what was shown of it are frozen with the rest."""

import django.db.models.deletion
from django.db import migrations, models

FROZEN = """
CREATE OR REPLACE FUNCTION makegood_batch_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.batch_id, NEW.case_id, NEW.version, NEW.effect_id, NEW.preview)
      IS DISTINCT FROM (OLD.batch_id, OLD.case_id, OLD.version, OLD.effect_id, OLD.preview) THEN
      RAISE EXCEPTION 'what a batch acts on is never changed';
    END IF;
    RETURN NEW;
  END IF;
  IF (SELECT state FROM repairs_batch WHERE id = coalesce(NEW.batch_id, OLD.batch_id)) <> 'draft' THEN
    RAISE EXCEPTION 'what a batch acts on is frozen once it was asked for';
  END IF;
  RETURN coalesce(NEW, OLD);
END $$;
"""
WITHOUT = FROZEN.replace(", NEW.effect_id, NEW.preview", "").replace(", OLD.effect_id, OLD.preview", "")
SENDS = ("turn_back", "try_again", "undo_again")


class Migration(migrations.Migration):
    dependencies = [("repairs", "0021_acts_on_runs"), ("workflows", "0031_key_places")]

    operations = [
        migrations.AddField(
            model_name="batchitem",
            name="effect",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="workflows.effect",
            ),
        ),
        migrations.AddField(
            model_name="batchitem", name="preview", field=models.CharField(blank=True, default="", max_length=64),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="batch",
            name="act",
            field=models.CharField(
                choices=[(act, act) for act in ("look_again", "claim", "release", *SENDS)], max_length=20
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("act__in", SENDS), _negated=True) | models.Q(("needs_second", True)),
                name="batch_that_sends_takes_two",
            ),
        ),
        migrations.RunSQL(FROZEN, WITHOUT),
    ]
