"""What the promises need of the ledger, read past the models in one statement each: they are asked after every step."""

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


@dataclasses.dataclass(frozen=True, slots=True)
class SeenCall:
    """The effect that a call is of, and what stands in the ledger while it is out.

    `verdicts`: how often policy let it go; `beside`: whether another is in flight on one of its scopes."""

    id: str
    run_id: str
    kind: str
    effect_class: str
    undoes: bool
    attempts: int
    intended: bool
    verdicts: int
    asked: bool
    spent: bool
    acknowledged: bool
    beside: bool


def at_the_call(key: str, attempt: int) -> SeenCall:
    with connection.cursor() as cursor:
        cursor.execute(AT_THE_CALL, {"key": key, "attempt": attempt})
        [row] = cursor.fetchall()
    return SeenCall(*row)


AT_THE_CALL = """
SELECT e.id::text, e.run_id::text, e.kind, e.effect_class, e.compensates_id IS NOT NULL, e.attempts,
  EXISTS (SELECT FROM workflows_attempt a
          WHERE a.effect_id = e.id AND a.number = %(attempt)s AND a.ended_at IS NULL),
  (SELECT count(*) FROM workflows_decision d WHERE d.effect_id = e.id AND d.verdict IN ('allow', 'ask')),
  EXISTS (SELECT FROM workflows_decision d WHERE d.effect_id = e.id AND d.verdict = 'ask'),
  EXISTS (SELECT FROM workflows_approval p WHERE p.effect_id = e.id AND p.state = 'spent'),
  EXISTS (SELECT FROM workflows_entry n WHERE n.subject_id = e.id AND n.event = 'acknowledge'),
  EXISTS (SELECT FROM workflows_effect o
          WHERE o.state = 'dispatched' AND o.scopes && e.scopes AND o.id <> e.id
          AND o.id IS DISTINCT FROM e.compensates_id AND o.id IS DISTINCT FROM e.makes_good_id)
FROM workflows_effect e WHERE e.key = %(key)s
"""


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
