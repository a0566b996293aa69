"""One broken run or answer must not stop the others, nor be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import making
from workflows.drain import drain_once
from workflows.models import Step
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

    def forward(run: Any, step: Step, steps: Any, now: Any) -> Any:
        if run.id == broken.id:
            raise RuntimeError("a bug of ours")
        return made(run, step, steps, now)

    monkeypatch.setattr(making, "forward", forward)
    drain_once()
    assert again(sound).state == "completed"
    assert (again(broken).state, again(broken).people_reasons[0]["code"]) == ("stuck", "engine_error")
    assert "a bug of ours" in again(broken).people_reasons[0]["detail"]


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
