"""The loaded ledger as SQL: a chunk of runs and their effects in two temporary tables, and what is made of them.

Plausible, not true: states, teams and times are spread as in an installation of three months, but the chains are not
hashed and nothing was called. Each column that isn't named takes null, or its type's empty value (see `load`).
"""

from __future__ import annotations

# The id of a thing: the moment as UUIDv7 has it, the rest from its name, so that who refers to it needs no look-up.
FUNCTIONS = """
CREATE FUNCTION pg_temp.id_of(at timestamptz, name text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT overlay(overlay(overlay(md5(name)
    placing lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') from 1)
    placing '7' from 13) placing 'a' from 17)::uuid
$$;
CREATE TEMPORARY TABLE a_run (n int, id uuid, at timestamptz, kind text, c int, agent int, agent_id uuid, flow int,
  workflow_id uuid, who text);
CREATE TEMPORARY TABLE an_effect (n int, s int, id uuid, forward_id uuid, step_id uuid, run_id uuid, tool text,
  tool_id uuid, team text, agent_id uuid, final boolean, at timestamptz, state text, world text, reason text,
  run_kind text, who text);
CREATE TEMPORARY TABLE an_agent AS SELECT split_part(name, '-', 2)::int AS i, id FROM workflows_agent;
CREATE TEMPORARY TABLE a_flow AS SELECT split_part(name, '-', 2)::int AS i, id FROM workflows_workflow
  WHERE name LIKE 'flow-%%';
CREATE TEMPORARY TABLE a_tool AS SELECT array_position(%(tools)s::text[], name::text) - 1 AS i, id, name, owner,
  spec->'profile'->>'effect_class' = 'irreversible' AS final FROM workflows_tool;
"""

# Every so many runs one has a case; the newer ones of these are open, the newest runs are still at work.
RUNS = """
INSERT INTO a_run
SELECT n, pg_temp.id_of(at, 'run' || n), at, kind, c, agent, g.id, flow, w.id, 'customer ' || n %% 90000
FROM (
  SELECT n, %(begin)s::timestamptz + %(span)s::interval * n / %(runs)s AS at,
    CASE WHEN n %% %(every)s = 0 THEN n / %(every)s END AS c,
    CASE WHEN n %% %(small)s = 5 THEN 40 ELSE n %% 40 END AS agent, n %% 6 AS flow,
    CASE
      WHEN n %% %(every)s = 0 AND n >= %(runs)s * 0.5 AND n / %(every)s %% 5 < 2 THEN 'stuck'
      WHEN n %% %(every)s = 0 AND n / %(every)s %% 50 = 3 THEN 'written_off'
      WHEN n %% %(every)s = 0 THEN 'repaired'
      WHEN n >= %(runs)s - %(going)s THEN 'going'
      WHEN n %% 20 = 3 THEN 'compensated'
      WHEN n %% 50 = 7 THEN 'failed'
      WHEN n %% 50 = 11 THEN 'cancelled'
      ELSE 'completed' END AS kind
  FROM generate_series(%(first)s::int, %(last)s::int) AS n
) AS made JOIN an_agent g ON g.i = agent JOIN a_flow w ON w.i = flow ORDER BY n
"""

# Steps that were never begun have no effect.
EFFECTS = """
INSERT INTO an_effect
SELECT n, s, pg_temp.id_of(r.at + s * interval '1 second', 'effect' || n || '.' || s), NULL,
  pg_temp.id_of(r.at, 'step' || n || '.' || s), r.id, t.name, t.id, t.owner, r.agent_id, t.final,
  r.at + s * interval '1 second', state, CASE
    WHEN state = 'verified' THEN 'present' WHEN state IN ('failed', 'cancelled', 'blocked', 'ready') THEN 'nothing'
    WHEN state = 'undone' THEN 'gone'
    WHEN state = 'stuck' THEN (ARRAY['unknown', 'differs', 'several', 'present'])[1 + n %% 4]
    ELSE 'unknown' END, reason, r.kind, r.who
FROM a_run r CROSS JOIN generate_series(1, 5) AS s JOIN a_tool t ON t.i = (flow + s - 1) %% 7
CROSS JOIN LATERAL (SELECT CASE r.kind
  WHEN 'completed' THEN CASE WHEN t.final THEN 'acknowledged' ELSE 'verified' END
  WHEN 'compensated' THEN CASE WHEN s = 5 THEN 'failed' WHEN t.final THEN 'acknowledged' ELSE 'undone' END
  WHEN 'failed' THEN CASE WHEN s = 1 THEN 'failed' END
  WHEN 'cancelled' THEN CASE WHEN s < 3 AND t.final THEN 'acknowledged' WHEN s < 3 THEN 'undone'
    WHEN s = 3 THEN 'cancelled' END
  WHEN 'repaired' THEN CASE WHEN t.final THEN 'acknowledged' ELSE 'verified' END
  WHEN 'written_off' THEN CASE WHEN s = 3 THEN 'written_off'
    WHEN s < 3 AND t.final THEN 'acknowledged' WHEN s < 3 THEN 'verified' END
  WHEN 'stuck' THEN CASE WHEN s = 3 THEN 'stuck'
    WHEN s < 3 AND t.final THEN 'acknowledged' WHEN s < 3 THEN 'verified' END
  WHEN 'going' THEN CASE WHEN s < 3 AND t.final THEN 'acknowledged' WHEN s < 3 THEN 'verified' WHEN s = 3
    THEN (ARRAY['dispatched', 'ready', 'blocked', 'blocked', 'blocked', 'unknown', 'pending', 'acknowledged'])
      [1 + n %% 8] END
  END AS state) AS of_state
CROSS JOIN LATERAL (SELECT CASE state
  WHEN 'blocked' THEN (ARRAY['hold', 'approval', 'rate', 'order', 'budget'])[1 + n / 8 %% 5]
  WHEN 'stuck' THEN (ARRAY['unreachable', 'differs', 'several', 'not_found', 'inconclusive', 'refused', 'poison',
    'limits'])[1 + n %% 8]
  WHEN 'failed' THEN 'refused' WHEN 'cancelled' THEN 'stopping' ELSE '' END AS reason) AS of_reason
WHERE state IS NOT NULL ORDER BY n, s;
INSERT INTO an_effect
SELECT n, s, pg_temp.id_of(at + interval '20 seconds', 'undoing' || n || '.' || s), id, step_id, run_id, tool, tool_id,
  team, agent_id, final, at + interval '20 seconds', 'verified', 'present', '', run_kind, who
FROM an_effect WHERE state = 'undone';
"""
