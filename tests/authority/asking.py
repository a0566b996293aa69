"""Short ways to ask persons, to answer for them, and to change what nobody may change."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from workflows.authority import approvals, dry_run, policies
from workflows.models import Approval, Policy


def approve(approval: Approval, by: User, **said: Any) -> approvals.Vote:
    """A plain yes to what the approval asks now."""
    seen = Approval.objects.values_list("digest", flat=True).get(id=approval.id)
    return approvals.vote(approval.id, **{"by": by, "why": "as agreed", "seen_digest": seen, **said})


def activate(*rules: str, expect: str = "") -> Policy:
    """A policy of these rules, in force from now on. `expect`: the verdict on the plain case, if it isn't `ask`."""
    verdict = expect or ("ask" if len(rules) == 1 else "allow")
    text = "\n".join(["policy: asking", "rules:", *(f"  - {r}" for r in rules), f"expect: [{{verdict: {verdict}}}]"])
    return activated(text)


def drafted(text: str, by: str = "person:author") -> Policy:
    """Tried on the past, so that another person can activate it."""
    made = policies.draft(text, by=by, why="to try")
    dry_run.dry_run(made.id, by=by)
    return made


def activated(text: str, at: dt.datetime | None = None) -> Policy:
    return policies.activate(drafted(text).id, by="person:second", at=at)


def later(approval: Approval) -> None:
    """As if its time were over, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE workflows_approval SET expires_at = now() - interval '1 s' WHERE id = %s", [approval.id])
        cursor.execute(
            "UPDATE workflows_effect SET due_at = now() WHERE id = %s AND state = 'blocked'", [approval.effect_id]
        )


def rewritten(table: str, column: str, value: Any, row: uuid.UUID) -> None:
    """As if somebody had gone past every trigger."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        text = json.dumps(value) if isinstance(value, dict | list) else value
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE id = %s", [text, row])
        cursor.execute("SET session_replication_role = DEFAULT")
