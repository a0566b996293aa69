"""What the promises need of the ledger, read past the models in one statement: it is read after every step."""

from __future__ import annotations

import dataclasses
from typing import Any

import orjson
from django.db import connection


@dataclasses.dataclass(frozen=True, slots=True)
class SeenRun:
    id: str
    phase: str
    state: str
    needs_person: bool
    end_cause: str
    residue: list[dict[str, Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class SeenEffect:
    id: str
    run_id: str
    key: str
    kind: str
    state: str
    world: str
    effect_class: str
    compensates_id: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """`cases`: runs with a live case. `limits`: of each budget. `asked`: approvals that nobody has decided."""

    runs: list[SeenRun]
    effects: list[SeenEffect]
    cases: set[str]
    limits: list[dict[str, int]]
    asked: int


def seen() -> Seen:
    with connection.cursor() as cursor:
        cursor.execute(ALL)
        runs, effects, cases, limits, asked = orjson.loads(cursor.fetchone()[0])
    return Seen(
        [SeenRun(*row) for row in runs or ()],
        [SeenEffect(*row) for row in effects or ()],
        set(cases or ()),
        limits or [],
        asked,
    )


ALL = """
SELECT json_build_array(
  (SELECT json_agg(json_build_array(id, phase, state, needs_person, end_cause, residue)) FROM workflows_run),
  (SELECT json_agg(json_build_array(id, run_id, key, kind, state, world, effect_class, compensates_id))
   FROM workflows_effect),
  (SELECT json_agg(run_id) FROM repairs_case WHERE state IN ('open', 'waiting')),
  (SELECT json_agg(limits) FROM workflows_budget),
  (SELECT count(*) FROM workflows_approval WHERE state = 'asked')
)::text
"""
