"""What is true of policy and tools at this moment: the version in force by the database's clock, compiled once.

Asked once for each set that is dispatched, in one statement."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection

from workflows.authority.policy.document import check
from workflows.authority.policy.rules import Ruled
from workflows.authority.verdict import Verdict
from workflows.errors import Invalid
from workflows.models import Policy
from workflows.rows import ids

KEPT = 16  # versions a process keeps compiled; two are in use around a change
_compiled: dict[uuid.UUID, Ruled] = {}

PRESENT = """
SELECT
  (SELECT p.id FROM workflows_policy p WHERE p.state = 'active' AND p.active_from <= clock_timestamp()
   ORDER BY p.active_from DESC, p.id DESC LIMIT 1),
  ARRAY(SELECT t.id FROM workflows_tool t WHERE t.id = ANY (%s::uuid[]) AND NOT t.current),
  ARRAY(SELECT t.id FROM workflows_tool t WHERE t.id = ANY (%s::uuid[]) AND t.withdrawn_at IS NOT NULL),
  EXISTS (SELECT FROM workflows_budget)
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Present:
    """`superseded`, `withdrawn`: of the versions of tools that were asked about. `budgets`: there are some at all."""

    ruled: Ruled
    superseded: frozenset[uuid.UUID] = frozenset()
    withdrawn: frozenset[uuid.UUID] = frozenset()
    budgets: bool = False


def present(tools: Collection[uuid.UUID] = ()) -> Present:
    asked = ids(tools)
    with connection.cursor() as cursor:
        cursor.execute(PRESENT, [asked, asked])
        version, superseded, withdrawn, budgets = cursor.fetchone()
    return Present(compiled(version), frozenset(superseded), frozenset(withdrawn), budgets)


def decide(present: Present, facts: Mapping[str, Any]) -> Verdict:
    """What the version in force says of one act."""
    return present.ruled.decide(facts)


def compiled(version: uuid.UUID | None) -> Ruled:
    """The rules of a version; those that deny everything where there is none, or it can't be read any more."""
    if version is None:
        return Ruled("no policy", [])
    if version not in _compiled:
        if len(_compiled) >= KEPT:
            _compiled.clear()
        policy = Policy.objects.get(id=version)
        try:
            _compiled[version] = check(policy.text, label=str(policy)).ruled
        except Invalid as trouble:
            return Ruled(f"{policy} (unreadable: {trouble.detail})", [])
    return _compiled[version]
