"""What is made of a chunk of runs: each table, its columns, and where they come from. Read by `load`."""

from __future__ import annotations

from benchmarks.console.made_cases import (
    ACT,
    APPROVAL,
    ASKED,
    BATCH,
    BATCH_ITEM,
    CASE,
    EVIDENCE,
    HOLD,
    NOTICE,
    OF_CASE,
    RESERVATION,
    VOTE,
    WORKED,
)  # fmt: skip
from benchmarks.console.made_runs import ATTEMPT, DECISION, EFFECT, ENTRY, LOOK, OF_RUN, PAYLOAD, RUN, SENT, STEP

# Once all runs are there.
AT_LAST: tuple[tuple[str, dict[str, str], str], ...] = (
    ("repairs_batch", BATCH, "generate_series(1, 200) AS k"),
    ("repairs_evidence", EVIDENCE, "(SELECT id, at FROM repairs_act ORDER BY id DESC LIMIT 2000) AS a"),
    ("repairs_worked", WORKED, "repairs_case c CROSS JOIN generate_series(1, 3) AS k"),
    (
        "repairs_batchitem",
        BATCH_ITEM,
        (
            "(SELECT id FROM repairs_case ORDER BY number DESC LIMIT 400) AS c,"
            " (SELECT id FROM repairs_batch ORDER BY number DESC LIMIT 50) AS b"
        ),
    ),
)
MADE: tuple[tuple[str, dict[str, str], str], ...] = (
    ("workflows_run", RUN, "a_run"),
    (
        "workflows_step",
        STEP,
        "a_run r CROSS JOIN generate_series(1, 5) AS s JOIN a_tool t ON t.i = (flow + s - 1) %% 7 ORDER BY n, s",
    ),
    ("workflows_effect", EFFECT, "an_effect"),
    ("workflows_attempt", ATTEMPT, f"an_effect WHERE {SENT}"),
    ("workflows_look", LOOK, f"an_effect WHERE {SENT} AND NOT final"),
    ("workflows_decision", DECISION, f"an_effect WHERE {SENT}"),
    ("workflows_entry", ENTRY, "an_effect CROSS JOIN generate_series(1, 4) AS k ORDER BY n, s, k"),
    ("workflows_entry", OF_RUN, "a_run CROSS JOIN generate_series(1, 3) AS k ORDER BY n, k"),
    ("workflows_entry", OF_CASE, "a_run CROSS JOIN generate_series(1, 2) AS k WHERE c IS NOT NULL"),
    ("workflows_payload", PAYLOAD, "an_effect CROSS JOIN (VALUES (3)) AS of (k)"),
    ("workflows_payload", PAYLOAD, "a_run CROSS JOIN (VALUES (1)) AS of (k)"),
    ("repairs_case", CASE, "a_run WHERE c IS NOT NULL"),
    ("repairs_act", ACT, "a_run CROSS JOIN generate_series(1, 2) AS k WHERE c IS NOT NULL"),
    ("repairs_notice", NOTICE, "a_run WHERE c IS NOT NULL"),
    ("workflows_approval", APPROVAL, f"an_effect WHERE {ASKED} OR (n %% 25 = 0 AND {SENT})"),
    ("workflows_approvalvote", VOTE, f"an_effect WHERE n %% 25 = 0 AND {SENT}"),
    ("workflows_scopehold", HOLD, "an_effect WHERE state IN ('dispatched', 'pending', 'unknown', 'stuck')"),
    (
        "workflows_reservation",
        RESERVATION,
        (
            "an_effect e JOIN workflows_budget b ON b.owner = 'agent:agent-' || n %% 40"
            " WHERE n %% 10 = 1 AND forward_id IS NULL"
        ),
    ),
)
