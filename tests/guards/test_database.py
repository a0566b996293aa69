"""What the database itself refuses; and what goes wrong, and how it is found, where it doesn't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import Error, IntegrityError, transaction

from tests.engine.simulated import World
from tests.journal.tampering import past_triggers, sql
from workflows.models import Effect, Entry, Run
from workflows.proof import Flaw, verify

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def effect(world: World, tool: Make, workflow: Make, run_through: Make) -> Effect:
    """A forward effect of a run that is stuck: verified, and its compensation refused."""
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    world.script("t.a", "compensate", "refused")
    run: Run = run_through(workflow("t.a", "t.b"))
    return Effect.objects.get(run=run, step__name="a", kind="forward")


def found() -> list[str]:
    flaws: list[Flaw] = []
    verify(flaws.append)
    return [flaw.what for flaw in flaws]


WORDS = (
    "UPDATE workflows_payload SET data = '{}' WHERE entry_id IN (SELECT id FROM workflows_entry WHERE subject_id = %s)"
)
LAST = "DELETE FROM workflows_entry WHERE subject_id = %s AND event = 'verify'"
SWAP = "UPDATE workflows_entry SET seq = 5 - seq WHERE subject_id = %s AND seq IN (2, 3)"
EDIT = "UPDATE workflows_entry SET world = 'gone' WHERE subject_id = %s"


@pytest.mark.parametrize(
    ("tampering", "said"),
    [
        (WORDS, "its words were changed"),
        (LAST, "the last entries are missing"),
        (SWAP, "the entry was changed"),
        (EDIT, "the entry was changed"),
    ],
    ids=["edited payload", "deleted last entry", "swapped entries", "edited entry"],
)
def test_history_is_not_rewritten_and_without_its_triggers_the_rewriting_is_found(
    effect: Effect, tampering: str, said: str
) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        sql(tampering, effect.id)
    assert found() == []
    with past_triggers():
        assert sql(tampering, effect.id)
    assert any(said in what for what in found())


ATTEMPT = """
INSERT INTO workflows_attempt
  (id, effect_id, number, fence, holder, started_at, outcome, reason, evidence, stale, key_place)
SELECT gen_random_uuid(), id, 9, fence, '', now(), '', '', '{}', false, '' FROM workflows_effect WHERE id = %s
"""


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (ATTEMPT, "without a dispatched effect"),
        ("UPDATE workflows_effect SET state = 'ready' WHERE id = %s", "can't go from verified to ready"),
        ("UPDATE workflows_effect SET key = 'another' WHERE id = %s", "append-only"),
        ("UPDATE workflows_effect SET arguments = '{}' WHERE id = %s", "append-only"),
        ("DELETE FROM workflows_effect WHERE id = %s", "append-only"),
        ("DELETE FROM workflows_attempt WHERE effect_id = %s", "append-only"),
        ("DELETE FROM workflows_look WHERE effect_id = %s", "append-only"),
    ],
    ids=["attempt without intent", "pair of states", "key", "arguments", "effect", "attempt", "look"],
)
def test_a_trigger_refuses_what_would_pass_without_it(effect: Effect, statement: str, said: str) -> None:
    with pytest.raises(IntegrityError, match=said), transaction.atomic():
        sql(statement, effect.id)
    with past_triggers():
        assert sql(statement, effect.id)


@pytest.mark.parametrize("table", ["effect", "entry", "payload", "attempt", "look", "checkpoint"])
def test_history_is_never_truncated(effect: Effect, table: str) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        sql(f"TRUNCATE workflows_{table} CASCADE")
    assert Entry.objects.exists()


def copied(table: str, where: str, **changes: str) -> str:
    """A statement that inserts a copy of a row with some columns changed."""
    changed = ", ".join(f"'{name}', {value}" for name, value in {"id": "gen_random_uuid()", **changes}.items())
    return (
        f"INSERT INTO {table} SELECT (jsonb_populate_record(t, jsonb_build_object({changed}))).*"
        f" FROM {table} t WHERE {where} = %s"
    )


CASE = copied("repairs_case", "run_id", number="nextval('repairs_case_number')")
EFFECT = copied("workflows_effect", "id")
VERIFIED = copied("workflows_effect", "id", key="'another'", verified_at="null")
COMPENSATION = copied("workflows_effect", "compensates_id", key="'another'")
RUN = copied("workflows_run", "id")


@pytest.mark.parametrize(
    ("statement", "of", "drop", "name"),
    [
        (EFFECT, "effect", "ALTER TABLE workflows_effect DROP CONSTRAINT", "one_effect_per_key"),
        (VERIFIED, "effect", "ALTER TABLE workflows_effect DROP CONSTRAINT", "verified_has_evidence"),
        (COMPENSATION, "effect", "DROP INDEX", "one_live_compensation"),
        (CASE, "run", "DROP INDEX", "one_open_case_per_run"),
        (RUN, "run", "ALTER TABLE workflows_run DROP CONSTRAINT", "one_run_per_idempotency_key"),
    ],
    ids=["one key", "evidence for verified", "one compensation", "one open case", "one run per key"],
)
def test_a_constraint_refuses_what_would_pass_without_it(
    effect: Effect, statement: str, of: str, drop: str, name: str
) -> None:
    subject = effect.id if of == "effect" else effect.run_id
    with pytest.raises(Error, match=name), transaction.atomic():
        sql(statement, subject)
    with transaction.atomic():
        sql(f"{drop} {name}")
        assert sql(statement, subject) == 1
        transaction.set_rollback(True)
