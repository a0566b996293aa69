"""After a restore: nothing leaves until an operator says so, looks go on, and what may have been sent is looked at."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

from tests.authority.test_stops import held
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.authority import stops
from workflows.drain import drain_once
from workflows.engine import restored
from workflows.engine.advance import advance
from workflows.models import Effect, Install, Stop

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_the_first_start_keeps_where_it_runs_and_the_same_server_freezes_nothing(db: None) -> None:
    assert restored.check() is None
    assert restored.check() is None
    assert (Install.objects.get().identity, Stop.objects.count()) == (restored.identity(), 0)
    assert restored.identity().count(":") == 2


def test_another_server_freezes_everything_once_until_an_operator_lifts_it(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """The backup says that it was never sent; the world has it. It is found, and never sent again."""
    tool("t.a")
    restored.check()
    sent, unsent = begin(workflow("t.a")), begin(workflow("t.a"))
    advance()
    world.things[Effect.objects.get(run=sent).key] = {}
    Install.objects.update(identity="1:1:1")
    stop = restored.check()
    assert stop is not None
    assert (stop.on, stop.cause, restored.check()) == ("everything", "restored", None)
    drain_once()
    assert (again(sent).state, world.sends) == ("completed", []), "looks go on, and what is there is adopted"
    assert held(unsent) == [("blocked", "hold", [str(stop.id)])]
    stops.lift(stop.id, by="person:operator", why="all checked")
    drain_once()
    assert (again(unsent).state, len(world.sends)) == ("completed", 1)


def test_what_waited_for_something_else_is_looked_at_too(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    before = stops.freeze("subject", f"customer:{run.subject_id}", by="person:desk", why="odd").stop
    drain_once()
    world.things[Effect.objects.get().key] = {}
    out = io.StringIO()
    call_command("recover", "--restored", "--why", "of last night", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert Stop.objects.get(id=told["stop"]).reason == "of last night"
    drain_once()
    assert (again(run).state, world.sends, before.state) == ("completed", [], "frozen")


def test_a_server_that_tells_nobody_who_it_is_freezes_nothing(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restored, "IDENTITY", "SELECT system_identifier FROM pg_no_such_function()")
    assert restored.identity() == ""
    assert restored.check() is None
    assert not Install.objects.exists()
