"""The database finds what is due in the order of an index, however much waits, whatever it knows of the tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from tests.engine.simulated import World
from workflows import rows
from workflows.engine import advance, dispatch, look
from workflows.fetch import _shape
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BACKLOG = 3000

CLAIMS = [
    pytest.param(Effect, dispatch.READY, ["now()", "'{}'::uuid[]", "64"], "effect_ready", id="dispatch"),
    pytest.param(Effect, look.DUE, ["now()", "3", "64"], "effect_to_look_at", id="look"),
    pytest.param(Run, advance.DUE, ["now()", "64"], "run_due", id="advance-timed"),
    pytest.param(Run, advance.WOKEN, ["256", "64"], "wake_at", id="advance-woken"),
]


@pytest.mark.parametrize(("model", "tail", "values", "index"), CLAIMS)
def test_a_claim_goes_along_its_index_and_sorts_nothing(
    world: World, tool: Make, workflow: Make, begin: Make, model: Any, tail: str, values: list[str], index: str
) -> None:
    tool("t.a")
    begin(workflow("t.a"))
    advance.advance()
    plans = [_plan(model, tail, values)]
    _multiply(BACKLOG)
    plans.append(_plan(model, tail, values))  # what was told when the table was small still holds
    _execute("INSERT INTO workflows_wake (run_id, at) SELECT id, now() FROM workflows_run")
    _execute("ANALYZE workflows_effect, workflows_run, workflows_wake")
    plans.append(_plan(model, tail, values))
    for plan in plans:
        assert index in plan
        assert "Sort" not in plan


def test_no_statement_of_the_engine_is_compiled_on_a_server_that_compiles_expensive_ones() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = on")
        rows.now()
        cursor.execute("SHOW jit")
        assert cursor.fetchone()[0] == "off"


def _plan(model: Any, tail: str, values: list[str]) -> str:
    statement = _shape(model)[2] + tail
    for value in values:
        statement = statement.replace("%s", value, 1)
    with transaction.atomic(), connection.cursor() as cursor:
        rows.now()
        cursor.execute(f"EXPLAIN {statement}")
        return "\n".join(row[0] for row in cursor.fetchall())


def _multiply(number: int) -> None:
    """As many runs and ready effects more, made from the one there is."""
    copies: list[tuple[Any, dict[str, str]]] = [
        (Run, {"id": "gen_random_uuid()", "idempotency_key": "n::text", "epoch": "n", "advance_at": "now()"}),
        (Effect, {"id": "gen_random_uuid()", "key": "left(md5(n::text), 26)", "epoch": "n"}),
    ]
    for model, changed in copies:
        table = model._meta.db_table
        names = [field.column for field in model._meta.concrete_fields]
        picked = ", ".join(changed.get(name, name) for name in names)
        _execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {picked}"
            f" FROM (SELECT * FROM {table} LIMIT 1) t, generate_series(1, {number}) n"
        )


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
