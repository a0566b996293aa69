"""Reads what an approval is about before anybody decides: what its tool would change, else what a look shows.

Asked for when persons are asked, and again whenever one of them wants to see it as it is now. Nothing is sent.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.authority import approvals
from workflows.engine.parts.door import WHILE_LOOKING, calls_of, seen
from workflows.engine.parts.joined import join_runs, join_tools
from workflows.fetch import fetch
from workflows.models import Approval, Effect
from workflows.outcomes import Sighting, Verdict
from workflows.toolbox import tool_of
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.keeping import keepable

BEFORE, LOOK, NOTHING = "before", "look", "nothing"  # by what a target is read


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One read under way: of which approval, by what, since when."""

    approval_id: uuid.UUID
    by: str
    begun: dt.datetime


def ask(approval_id: uuid.UUID) -> bool:
    """Wants the target read now; whether it will be: only while persons are asked. A drain does it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ASK, [approval_id])
        found = cursor.fetchone()
        if found:
            ledger.notify([found[0]], work=True)
    return found is not None


ASK = """
UPDATE workflows_approval SET read_due = least(coalesce(read_due, clock_timestamp()), clock_timestamp())
WHERE id = %s AND state = 'asked' RETURNING run_id
"""


def claim(limit: int) -> list[tuple[Approval, Effect]]:
    """Approvals whose target is to be read, with their effects; nobody else reads them until this is overdue."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM, [limit, WHILE_LOOKING])
        ids = [row[0] for row in cursor.fetchall()]
        if not ids:
            return []
        wanted = fetch(Approval, "WHERE t.id = ANY (%s::uuid[]) ORDER BY t.id", [rows.ids(ids)])
        effects = {e.id: e for e in fetch(Effect, BY_ID, [rows.ids(a.effect_id for a in wanted)])}
        join_runs([*effects.values()])
        join_tools([*effects.values()])
        return [(approval, effects[approval.effect_id]) for approval in wanted]


BY_ID = "WHERE t.id = ANY (%s::uuid[])"
CLAIM = """
WITH due AS MATERIALIZED (
  SELECT id FROM workflows_approval WHERE state = 'asked' AND read_due <= clock_timestamp()
  ORDER BY read_due LIMIT %s FOR UPDATE SKIP LOCKED)
UPDATE workflows_approval a SET read_due = clock_timestamp() + make_interval(secs => %s)
FROM due WHERE a.id = due.id RETURNING a.id
"""


def begin(wanted: Sequence[tuple[Approval, Effect]], pool: Executor) -> list[tuple[Read, Future[Sighting | None]]]:
    """Starts the reads; the futures never raise. None where the tool can read nothing."""
    begun = rows.now()
    calls = calls_of([effect for _, effect in wanted], begun)
    jobs = []
    for (approval, effect), (tool, call) in zip(wanted, calls, strict=True):
        by = by_what(effect)
        jobs.append((Read(approval.id, by, begun), pool.submit(_read, by, tool, call)))
    return jobs


def by_what(effect: Effect) -> str:
    """What can be read of the target of this effect."""
    tool = tool_of(effect.tool)
    if effect.operation == "execute" and tool.has("before"):
        return BEFORE
    return LOOK if tool.timings(effect.operation).can_look else NOTHING


def _read(by: str, tool: Tool, call: Call) -> Sighting | None:
    if by == NOTHING:
        return None
    return seen(lambda: tool.before(call) if by == BEFORE else tool.look(call))


def record(answered: Sequence[tuple[Read, Sighting | None]]) -> None:
    """Keeps what was read with its approval, and what could not be read as that."""
    for read, sighting in answered:
        with transaction.atomic():
            _keep(read, sighting)
            with connection.cursor() as cursor:
                cursor.execute("UPDATE workflows_approval SET read_due = NULL WHERE id = %s", [read.approval_id])


def _keep(read: Read, sighting: Sighting | None) -> None:
    if sighting is None:
        approvals.could_not_read(read.approval_id, by=read.by, reason="its tool has no way to look", at=read.begun)
        return
    failed = sighting.verdict != Verdict.FOUND if read.by == BEFORE else sighting.verdict == Verdict.INCONCLUSIVE
    if failed:
        approvals.could_not_read(read.approval_id, by=read.by, reason=sighting.reason, at=read.begun)
        return
    told: dict[str, Any] = {"by": read.by, "verdict": sighting.verdict.value}
    approvals.keep_target(
        read.approval_id,
        image=keepable(sighting.result),
        version=sighting.evidence.get("version") if read.by == BEFORE else None,
        at=read.begun,
        told=told,
    )
