"""One broken run or answer must not stop the others, nor be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import ledger, making
from workflows.drain import drain_once
from workflows.engine import advance, reopen
from workflows.errors import Invalid
from workflows.models import Run
from workflows.outcomes import Acknowledged
from workflows.tools.base import Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_run_that_cannot_be_advanced_is_set_aside_and_the_others_go_on(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a")
    broken, sound = begin(workflow("t.a")), begin(workflow("t.a"))
    made = making.forward

    def forward(run: Any, *more: Any, **named: Any) -> Any:
        if run.id == broken.id:
            raise RuntimeError("a bug of ours")
        return made(run, *more, **named)

    monkeypatch.setattr(making, "forward", forward)
    drain_once()
    assert (again(sound).state, again(sound).people_reasons) == ("completed", [])
    assert (again(broken).state, again(broken).people_reasons[0]["code"]) == ("stuck", "engine_error")
    assert "a bug of ours" in again(broken).people_reasons[0]["detail"]


@pytest.mark.parametrize("by_person", [False, True])
def test_a_run_that_is_over_and_was_set_aside_stays_so_for_ever_or_forgets_what_a_person_said(
    world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch, by_person: bool
) -> None:
    tool("t.a")
    run = run_through(workflow("t.a"))
    said = []
    if by_person:
        reopen.reopen(run.id, by="person:day-desk", why="the customer still sees it")
        said = again(run).people_reasons
        assert again(run).is_clean is False
    sound = advance._one

    def broken(run: Run, *more: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(advance, "_one", broken)
    wake(run)
    aside = again(run)
    assert (aside.state, aside.phase) == ("stuck", "over")
    assert aside.people_reasons[1:] == said
    assert "a bug of ours" in aside.people_reasons[0]["detail"]
    with pytest.raises(Invalid, match="engine_error"):
        reopen.settle(run.id, by="person:day-desk", why="it looks well")

    monkeypatch.setattr(advance, "_one", sound)
    wake(run)
    now = again(run)
    assert (now.people_reasons, now.phase, now.needs_person) == (said, "over", by_person)
    if by_person:
        now = reopen.settle(run.id, by="person:day-desk", why="a stale page of theirs")
    assert (now.state, now.is_clean, now.ending, now.residue) == ("completed", True, "", [])
    assert states(again(run)) == {"a forward": "verified present"}


def wake(run: Run) -> None:
    with transaction.atomic():
        ledger.wake_runs([run.id])
    drain_once()


def test_an_answer_that_cannot_be_stored_is_unknown_and_takes_no_other_with_it(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.bad")
    tool("t.good")
    runs = [begin(workflow("t.bad")), begin(workflow("t.good"))]

    def unstorable(self: Tool, call: Any) -> Any:
        world.book(call)
        return Acknowledged(result={"id": "a\x00b" if self.name == "t.bad" else "x"})

    monkeypatch.setattr("tests.engine.simulated.SimTool.send", unstorable)
    drain_once()
    assert [states(again(run)) for run in runs] == [
        {"bad forward": "verified present"},
        {"good forward": "verified present"},
    ]
