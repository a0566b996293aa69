"""C49: a bell that never rang, a commit that never was, a deadlock: work is neither lost nor begun too early, and a
transaction that is repeated repeats no call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from tests.engine.conftest import again, agent, begin, states, tool, workflow, world
from tests.engine.simulated import World
from workflows import ledger
from workflows.drain import drain_once
from workflows.models import Attempt, Run

__all__ = ["agent", "begin", "tool", "workflow", "world"]
pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_work_whose_bell_died_between_commit_and_ring_is_done(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a")
    with monkeypatch.context() as silent:
        silent.setattr(ledger, "notify", lambda *_args, **_options: None)
        run = begin(workflow("t.a"))
    drain_once()
    assert again(run).state == "completed"


def test_work_that_was_rolled_back_after_it_was_asked_for_is_never_begun(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")

    def ask_and_break() -> None:
        with transaction.atomic():
            begin(flow)
            raise RuntimeError("the asker breaks")

    with pytest.raises(RuntimeError):
        ask_and_break()
    drain_once()
    assert (world.sends, Run.objects.count()) == ([], 0)


@pytest.mark.parametrize("sqlstate", ["40P01", "40001"], ids=["deadlock", "serialization"])
@pytest.mark.parametrize("verb", ["intend", "complete", "saw"])
def test_a_transaction_that_lost_against_another_is_repeated_and_the_call_is_not(
    sqlstate: str, verb: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In dispatch, in record, and when a look is written."""
    tool("t.a")
    run = begin(workflow("t.a"))
    real, left = getattr(ledger, verb), [2]

    def lose(*args: Any, **options: Any) -> Any:
        if left[0]:
            left[0] -= 1
            with connection.cursor() as cursor:
                cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '{sqlstate}'; END $$")
        return real(*args, **options)

    monkeypatch.setattr(ledger, verb, lose)
    drain_once()
    assert left == [0]
    assert states(again(run)) == {"a forward": "verified present"}
    assert (len(world.sends), Attempt.objects.count()) == (1, 1)
