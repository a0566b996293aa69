"""What runs and their effects are made of: for each table the columns that say something. Read by `made`."""

from __future__ import annotations

OVER = "kind NOT IN ('stuck', 'going')"
STUCK_AT = "pg_temp.id_of(at + interval '3 seconds', 'effect' || n || '.3')"
WHY = (
    "(ARRAY['unreachable', 'differs', 'several', 'not_found', 'inconclusive', 'refused', 'poison', 'limits'])"
    "[1 + n %% 8]"
)
REASONS = (
    f"jsonb_build_array(jsonb_build_object('code', {WHY}, 'effect', {STUCK_AT}, 'step', 'three', 'tool', '',"
    " 'detail', ''))"
)
OPEN = "kind = 'stuck'"
DIGEST = "md5(id::text) || md5(id::text)"
SEEN = "state IN ('verified', 'acknowledged', 'undone')"
SENT = "state NOT IN ('blocked', 'ready', 'cancelled')"

RUN = {
    "id": "id",
    "agent_id": "agent_id",
    "workflow_id": "workflow_id",
    "subject_type": "'customer'",
    "subject_id": "'c' || n %% 90000",
    "subject_label": "who",
    "external_id": "CASE WHEN n %% 3 = 0 THEN 'order-' || n ELSE '' END",
    "input": "jsonb_build_object('who', who, 'note', repeat('n', 100))",
    "idempotency_key": "'key-' || n",
    "body_digest": DIGEST,
    "epoch": "n",
    "phase": f"CASE WHEN {OVER} THEN 'over' WHEN {OPEN} THEN 'unwinding' ELSE 'running' END",
    "state": "CASE WHEN kind = 'going' THEN 'running' ELSE kind END",
    "is_clean": f"CASE WHEN {OVER} THEN kind = 'completed' END",
    "sealed": "true",
    "ending": f"CASE WHEN {OPEN} THEN 'compensate' WHEN kind = 'written_off' THEN kind ELSE '' END",
    "needs_person": OPEN,
    "people_reasons": f"CASE WHEN {OPEN} THEN {REASONS} ELSE '[]' END",
    "deadline": "at + interval '1 hour'",
    "created_at": "at",
    "changed_at": "at + interval '30 seconds'",
    "ended_at": f"CASE WHEN {OVER} THEN at + interval '30 seconds' END",
    "seq": "3",
    "head": DIGEST,
}
STEP = {
    "id": "pg_temp.id_of(r.at, 'step' || n || '.' || s)",
    "run_id": "r.id",
    "name": "(ARRAY['one', 'two', 'three', 'four', 'five'])[s]",
    "ordinal": "s",
    "tool_id": "t.id",
    "template": "jsonb_build_object('who', '${ input.who }')",
    "arguments": "jsonb_build_object('who', r.who)",
    "state": "CASE WHEN kind IN ('stuck', 'going') THEN CASE WHEN s < 3 THEN 'done' WHEN s = 3 THEN 'active'"
    " ELSE 'pending' END"
    " WHEN kind IN ('failed', 'cancelled') THEN CASE WHEN s = 1 THEN 'failed' ELSE 'skipped' END ELSE 'done' END",
    "digest": "md5(r.id::text)",
    "created_at": "r.at",
}
EFFECT = {
    "id": "id",
    "run_id": "run_id",
    "step_id": "step_id",
    "agent_id": "agent_id",
    "tool_id": "tool_id",
    "kind": "CASE WHEN forward_id IS NULL THEN 'forward' ELSE 'compensation' END",
    "compensates_id": "forward_id",
    "ordinal": "s",
    "epoch": "n",
    "arguments": "jsonb_build_object('who', who, 'note', repeat('a', 100))",
    "key": "substr(md5(id::text), 1, 26)",
    "digest": DIGEST,
    "scopes": "ARRAY[tool || ':' || who]",
    "effect_class": "CASE WHEN final THEN 'irreversible' ELSE 'reversible' END",
    "owner": "team",
    "customer_visible": "final",
    "residue": "'What ' || tool || ' made stands outside.'",
    "value": "CASE WHEN tool = 'pay.charge' THEN jsonb_build_object('amount', 100 + n %% 90000, 'currency', 'EUR') END",
    "state": "state",
    "world": "world",
    "reason": "reason",
    "blocked_by": "CASE WHEN reason = 'hold' THEN (SELECT jsonb_agg(jsonb_build_object('stop', id))"
    " FROM workflows_stop)"
    " WHEN reason = 'budget' THEN (SELECT jsonb_agg(jsonb_build_object('budget', id)) FROM workflows_budget"
    " WHERE owner = 'agent:agent-1') ELSE '[]' END",
    "due_at": "CASE WHEN state IN ('unknown', 'pending', 'acknowledged') AND run_kind = 'going' OR reason = 'rate'"
    " THEN now() + interval '1 minute' END",
    "fence": "1",
    "attempts": "CASE WHEN state IN ('blocked', 'ready') THEN 0 ELSE 1 END",
    "lease_until": "CASE WHEN state = 'dispatched' THEN now() + interval '1 hour' END",
    "unreached_since": "CASE WHEN state IN ('stuck', 'unknown') AND n %% 8 = 0 THEN at + interval '900 ms' END",
    "unreached": "CASE WHEN state IN ('stuck', 'unknown') AND n %% 8 = 0 THEN 'no connection' ELSE '' END",
    "first_sent_at": "CASE WHEN state NOT IN ('blocked', 'ready') THEN at END",
    "result": f"CASE WHEN {SEEN} THEN jsonb_build_object('id', 'p-' || n || '-' || s) END",
    "external_ref": f"CASE WHEN {SEEN} THEN 'p-' || n || '-' || s ELSE '' END",
    "verifiable": "state = 'verified' OR NOT final",
    "verified_at": "CASE WHEN state = 'verified' THEN at + interval '1 second' END",
    "granted": "'read write compensate verify'",
    "created_at": "at",
    "changed_at": "at + interval '1 second'",
    "progress_at": "at + interval '1 second'",
    "seq": "4",
    "head": DIGEST,
}
ATTEMPT = {
    "id": "pg_temp.id_of(at + interval '100 ms', 'send' || id)",
    "effect_id": "id",
    "number": "1",
    "fence": "1",
    "holder": "'host-1:4711'",
    "started_at": "at + interval '100 ms'",
    "ended_at": "CASE WHEN state <> 'dispatched' THEN at + interval '300 ms' END",
    "outcome": "CASE WHEN state = 'dispatched' THEN '' WHEN state = 'failed' THEN 'refused'"
    " WHEN state = 'pending' THEN state"
    " WHEN state IN ('unknown', 'stuck') THEN 'unknown' ELSE 'acknowledged' END",
    "evidence": "jsonb_build_object('status', 200, 'request', id, 'answer', repeat('e', 60))",
}
LOOK = {
    "id": "pg_temp.id_of(at + interval '1 second', 'look' || id)",
    "effect_id": "id",
    "fence": "1",
    "begun_at": "at + interval '900 ms'",
    "ended_at": "at + interval '1 second'",
    "verdict": "CASE WHEN state IN ('stuck', 'unknown') THEN 'inconclusive' ELSE 'found' END",
    "reached": "NOT (state IN ('stuck', 'unknown') AND n %% 8 = 0)",
    "counted": "true",
    "evidence": "jsonb_build_object('status', 200, 'answer', repeat('l', 60))",
}
DECISION = {
    "id": "pg_temp.id_of(at, 'decision' || id)",
    "agent_id": "agent_id",
    "effect_id": "id",
    "act": "'write ' || tool",
    "verdict": "CASE WHEN n %% 200 = 9 THEN 'deny' WHEN n %% 25 = 0 THEN 'ask' ELSE 'allow' END",
    "policy": "'starter v1'",
    "rule": "'trusted'",
    "inputs": "jsonb_build_object('tool', tool, 'facts', repeat('f', 100))",
    "at": "at",
}
ENTRY = {
    "id": "pg_temp.id_of(at + k * interval '100 ms', 'entry' || id || k)",
    "subject_kind": "'effect'",
    "subject_id": "id",
    "run_id": "run_id",
    "seq": "k",
    "event": "(ARRAY['make', 'dispatch', 'acknowledge', 'verify'])[k]",
    "before": "(ARRAY['', 'ready', 'dispatched', 'acknowledged'])[k]",
    "after": "(ARRAY['ready', 'dispatched', 'acknowledged', 'verified'])[k]",
    "world": "world",
    "fence": "1",
    "actor": "'engine'",
    "at": "at + k * interval '100 ms'",
    "hash": DIGEST,
}
OF_RUN = {
    **ENTRY,
    "subject_kind": "'run'",
    "run_id": "id",
    "event": "(ARRAY['start', 'seal', 'end'])[k]",
    "before": "''",
    "after": "''",
    "world": "''",
    "actor": "(ARRAY['agent', 'agent', 'engine'])[k]",
}
PAYLOAD = {
    "entry_id": "pg_temp.id_of(at + k * interval '100 ms', 'entry' || id || k)",
    "salt": "md5(id::text)",
    "data": "jsonb_build_object('result', jsonb_build_object('id', id))",
}
