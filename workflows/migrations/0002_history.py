"""What Django can't say: partitions of history by time, and the triggers by which the database itself says no."""

from __future__ import annotations

from django.db import migrations

from workflows.states import pairs

PARTITIONED = {
    "workflows_entry": (
        "CREATE INDEX entry_chain ON workflows_entry (subject_id, seq);"
        "CREATE INDEX entry_run ON workflows_entry (run_id);"
    ),
    "workflows_attempt": (
        "CREATE INDEX attempt_of_effect ON workflows_attempt (effect_id);"
        "ALTER TABLE workflows_attempt ADD CONSTRAINT attempt_effect FOREIGN KEY (effect_id)"
        " REFERENCES workflows_effect (id) DEFERRABLE INITIALLY DEFERRED;"
    ),
    "workflows_look": (
        "CREATE INDEX look_at_effect ON workflows_look (effect_id);"
        "ALTER TABLE workflows_look ADD CONSTRAINT look_effect FOREIGN KEY (effect_id)"
        " REFERENCES workflows_effect (id) DEFERRABLE INITIALLY DEFERRED;"
    ),
}

FUNCTIONS = """
CREATE FUNCTION makegood_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

-- The smallest UUIDv7 of a moment: the first 48 bits are milliseconds since 1970.
CREATE FUNCTION makegood_uuid_floor(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partitions of this month and of as many after it; what lies outside goes to the default partition.
CREATE FUNCTION makegood_partitions(ahead int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  parent text; part text; start timestamptz; made int := 0;
BEGIN
  FOREACH parent IN ARRAY ARRAY['workflows_entry', 'workflows_attempt', 'workflows_look'] LOOP
    FOR i IN 0..ahead LOOP
      start := date_trunc('month', now(), 'UTC') + make_interval(months => i);
      part := parent || '_' || to_char(start AT TIME ZONE 'UTC', 'YYYY_MM');
      IF to_regclass(part) IS NULL THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', part, parent,
          makegood_uuid_floor(start), makegood_uuid_floor(start + interval '1 month'));
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse()',
          'kept', part);
        made := made + 1;
      END IF;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

CREATE FUNCTION makegood_effect_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT ((OLD.state || '>' || NEW.state) = ANY (ARRAY[%(pairs)s])) THEN
    RAISE EXCEPTION 'effect % can''t go from % to %', OLD.id, OLD.state, NEW.state USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION makegood_attempt_has_intent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM workflows_effect WHERE id = NEW.effect_id AND state = 'dispatched' AND fence = NEW.fence;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'attempt on % without a dispatched effect of fence %', NEW.effect_id, NEW.fence
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
"""

TRIGGERS = """
CREATE TRIGGER moves BEFORE UPDATE OF state ON workflows_effect FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION makegood_effect_moves();
CREATE TRIGGER frozen BEFORE UPDATE OF id, run_id, step_id, tool_id, kind, arguments, key, digest, scopes, compensates_id
  ON workflows_effect FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER undeletable BEFORE DELETE ON workflows_effect FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER intent BEFORE INSERT ON workflows_attempt FOR EACH ROW EXECUTE FUNCTION makegood_attempt_has_intent();
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON workflows_entry FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER appended BEFORE UPDATE ON workflows_payload FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER undeletable BEFORE DELETE ON workflows_attempt FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON workflows_look FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON workflows_checkpoint FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE SEQUENCE workflows_epoch;
"""

NEVER_TRUNCATED = ("effect", "entry", "payload", "checkpoint", "attempt", "look")


def moves_as_sql() -> str:
    return ", ".join(f"'{a}>{b}'" for a, b in sorted(pairs()))


def partitioned(table: str, extras: str) -> str:
    return f"""
CREATE TABLE {table}_parted (LIKE {table} INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
DROP TABLE {table} CASCADE;
ALTER TABLE {table}_parted RENAME TO {table};
ALTER INDEX {table}_parted_pkey RENAME TO {table}_pkey;
{extras}
CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT;
CREATE TRIGGER kept BEFORE TRUNCATE ON {table}_rest FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
"""


SQL = "".join(
    [
        FUNCTIONS.replace("%(pairs)s", moves_as_sql()),
        *(partitioned(table, extras) for table, extras in PARTITIONED.items()),
        TRIGGERS,
        *(
            f"CREATE TRIGGER whole BEFORE TRUNCATE ON workflows_{name} FOR EACH STATEMENT"
            " EXECUTE FUNCTION makegood_refuse();"
            for name in NEVER_TRUNCATED
        ),
        "SELECT makegood_partitions(3);",
    ]
)


class Migration(migrations.Migration):
    dependencies = (("workflows", "0001_initial"),)
    operations = (migrations.RunSQL(SQL, migrations.RunSQL.noop),)
