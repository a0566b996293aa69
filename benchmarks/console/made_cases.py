"""What people meet of it: cases, acts, approvals, notices, budgets' reservations, batches. Read by `made`."""

from __future__ import annotations

import json

from benchmarks.console.made_runs import DIGEST, OF_RUN, OPEN, REASONS, WHY
from workflows.authority.approvals import digest

CASE = {
    "id": "pg_temp.id_of(at, 'case' || n)",
    "number": "c + 1",
    "run_id": "id",
    "agent_id": "agent_id",
    "state": f"CASE WHEN {OPEN} THEN CASE WHEN c %% 10 = 1 THEN 'waiting' ELSE 'open' END"
    " WHEN kind = 'repaired' THEN 'resolved' ELSE kind END",
    "sentence": "'It is not known whether ' || who || ' was charged: the answer was lost.'",
    "reasons": REASONS,
    "harm": "(ARRAY['unknown', 'wrong', 'stands', 'held', 'absent'])[1 + c / 5 %% 5]",
    "rank": "c / 5 %% 5",
    "rank_reason": "'It is not known what is outside.'",
    "customers": "c %% 2",
    "value": "CASE WHEN c %% 3 = 0 THEN jsonb_build_array(jsonb_build_object('amount', 4800, 'currency', 'EUR'))"
    " ELSE '[]' END",
    "owner": "(ARRAY['sales', 'care', 'billing', 'events'])[1 + c %% 4]",
    "deadline": "now() + (c %% 500 - 250) * interval '7 minutes'",
    "cutoff": "CASE WHEN c %% 6 = 0 THEN now() + (c %% 997) * interval '11 minutes' END",
    "cutoff_reason": "CASE WHEN c %% 6 = 0 THEN 'then the provider forgets our key' ELSE '' END",
    "signature": f"'tool v1: ' || {WHY}",
    "found_by": "lower(who || E'\\n' || 'c' || n %% 90000 || E'\\n'"
    " || CASE WHEN n %% 3 = 0 THEN 'order-' || n ELSE '' END"
    " || E'\\n' || id"
    " || E'\\n' || 'p-' || n || '-1' || E'\\n' || 'p-' || n || '-2')",
    "claimed_by_id": f"CASE WHEN {OPEN} AND c %% 7 = 0 THEN (SELECT id FROM auth_user WHERE username ="
    " CASE WHEN c %% 35 = 0"
    " THEN 'sees-all' ELSE 'desk-' || c %% 30 END) END",
    "lease_until": f"CASE WHEN {OPEN} AND c %% 7 = 0 THEN now() + interval '15 minutes' END",
    "fence": "1",
    "opened_at": "at + interval '40 seconds'",
    "changed_at": "at + interval '2 hours'",
    "closed_at": f"CASE WHEN NOT {OPEN} THEN at + interval '2 hours' END",
    "seq": "2",
    "head": DIGEST,
}
OF_CASE = {
    **OF_RUN,
    "id": "pg_temp.id_of(at + k * interval '40 seconds', 'case entry' || id || k)",
    "subject_kind": "'case'",
    "subject_id": "pg_temp.id_of(at, 'case' || n)",
    "event": "(ARRAY['open', 'claim', 'resolve'])[k]",
}
ACT = {
    "id": "pg_temp.id_of(at + k * interval '1 minute', 'act' || n || '.' || k)",
    "case_id": "pg_temp.id_of(at, 'case' || n)",
    "kind": "CASE k WHEN 1 THEN 'claim' ELSE 'look_again' END",
    "by_id": "(SELECT id FROM auth_user WHERE username = 'desk-' || n %% 30)",
    "why": "'as the provider was asked to'",
    "outcome": "'done'",
    "at": "at + k * interval '1 minute'",
}
ALL_FIELDS = "'" + json.dumps(dict.fromkeys(digest.REASONS, "")) + "'::jsonb"
ASKED = "reason = 'approval'"
APPROVAL = {
    "id": "pg_temp.id_of(at, 'approval' || id)",
    "effect_id": "id",
    "run_id": "run_id",
    "agent_id": "agent_id",
    "digest": DIGEST,
    "digest_version": "1",
    "fields": f"{ALL_FIELDS} || jsonb_build_object('arguments', jsonb_build_object('who', who))",
    "tool": "tool",
    "act": "'forward'",
    "effect_class": "'reversible'",
    "reason": "'ask-first'",
    "policy": "'starter v1'",
    "approvers": "to_jsonb('approver'::text)",
    "needed": "1",
    "round": "1",
    "asked_at": "at",
    "expires_at": f"CASE WHEN {ASKED} THEN now() + n %% 300 * interval '1 minute' ELSE at END + interval '1 hour'",
    "state": f"CASE WHEN {ASKED} THEN 'asked' WHEN n %% 10 = 0 THEN 'refused' ELSE 'spent' END",
    "decided_at": f"CASE WHEN NOT {ASKED} THEN at + interval '5 minutes' END",
    "spent_at": f"CASE WHEN NOT {ASKED} THEN at + interval '6 minutes' END",
    "fence": "1",
    "changed_at": "at",
    "seq": "2",
    "head": DIGEST,
}
VOTE = {
    "id": "pg_temp.id_of(at, 'vote' || id)",
    "approval_id": "pg_temp.id_of(at, 'approval' || id)",
    "by_id": "(SELECT id FROM auth_user WHERE username = 'desk-' || n %% 30)",
    "verdict": "CASE WHEN n %% 10 = 0 THEN 'refuse' ELSE 'approve' END",
    "at": "at + interval '5 minutes'",
    "opened_at": "at + interval '4 minutes'",
    "seen_digest": DIGEST,
}
HOLD = {"scope": "tool || ':' || n || '.' || s", "effect_id": "id", "since": "at"}
RESERVATION = {
    "id": "pg_temp.id_of(e.at, 'reservation' || e.id)",
    "budget_id": "b.id",
    "effect_id": "e.id",
    "subject": "'customer:' || n %% 90000",
    "worth": "jsonb_build_object('calls', 1)",
    "state": "'spent'",
}
EVIDENCE = {
    "id": "pg_temp.id_of(a.at, 'evidence' || a.id)",
    "act_id": "a.id",
    "name": "'text'",
    "size": "4",
    "sha256": "encode(sha256('seen'), 'hex')",
    "content": "'seen'::bytea",
}
WORKED = {
    "id": "nextval(pg_get_serial_sequence('repairs_worked', 'id'))",
    "case_id": "c.id",
    "user_id": "(SELECT id FROM auth_user WHERE username = 'desk-' || k)",
    "began": "c.opened_at",
    "until": "c.opened_at + k * interval '3 minutes'",
}
NOTICE = {
    "id": "pg_temp.id_of(at, 'notice' || n)",
    "what": "'case'",
    "subject": "pg_temp.id_of(at, 'case' || n)",
    "team": "'sales'",
    "to": "'repairer'",
    "state": "'sent'",
    "attempts": "1",
    "created_at": "at",
    "due_at": "at",
    "sent_at": "at",
}

BATCH = {
    "id": "pg_temp.id_of(now() - k * interval '1 hour', 'batch' || k)",
    "number": "1000 - k",
    "act": "'look_again'",
    "state": "'done'",
    "chosen": "'all of one cause'",
    "count": "400",
    "digest": "md5('batch' || k)",
    "by_id": "(SELECT id FROM auth_user WHERE username = 'sees-all')",
    "agents": "ARRAY(SELECT DISTINCT agent_id FROM"
    " (SELECT agent_id FROM repairs_case ORDER BY number DESC LIMIT 1 + k * 2) AS c)",
    "why": "'the provider is back'",
    "made_at": "now() - k * interval '1 hour'",
}
BATCH_ITEM = {
    "id": "pg_temp.id_of(now(), 'item' || c.id || b.id)",
    "batch_id": "b.id",
    "case_id": "c.id",
    "version": "'2.3.4'",
    "state": "'done'",
    "at": "now()",
}
