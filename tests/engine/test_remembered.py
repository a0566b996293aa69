"""A row that was just written is moved once more from where it was written, without being read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from tests.engine.simulated import World
from workflows import ledger, proof, rows
from workflows.models import Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_run_that_was_made_and_moved_is_moved_again_from_where_it_was_before(workflow: Make, begin: Make) -> None:
    run: Run = begin(workflow(), open=True)
    with transaction.atomic():
        Run.objects.select_for_update().get(id=run.id)
        run.seal()
        ledger.save_runs([run], now=rows.now())
        run.unwind(ending="compensate", cause="person", reason="no more")
        ledger.save_runs([run], now=rows.now())
    told = Entry.objects.filter(subject_id=run.id).order_by("seq").values_list("before", "after")
    assert list(told) == [("", "open"), ("open", "running"), ("running", "unwinding")]
    kept = Run.objects.get(id=run.id)
    assert (kept.phase, kept.sealed, kept.ending) == ("unwinding", True, "compensate")
    flaws: list[Any] = []
    proof.verify(flaws.append)
    assert flaws == []


def test_a_look_that_came_back_still_counts_as_one_that_did_not(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    world.script("t.a", "look", "unreachable")  # the next one is begun apart from the send
    effect = Effect.objects.get(run=run_through(workflow("t.a")))
    assert (effect.state, effect.unseen, effect.holder) == ("verified", 0, "")
