"""Versions of tools that were withdrawn, replaced or changed: their waiting work waits until somebody decides."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from tests.authority.asking import approve, rewritten
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import proof
from workflows.authority import versions
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.errors import StaleFence
from workflows.models import Approval, Effect, Run, Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Asking = Callable[..., tuple[Run, Approval]]


@pytest.mark.parametrize("when", ["before the click", "after the click"])
def test_c53_a_tool_that_is_withdrawn_is_not_called_for_what_waited_until_somebody_decides(
    world: World, asking: Asking, desk: User, when: str
) -> None:
    run, approval = asking()
    if when == "after the click":
        approve(approval, desk)
    tool = Tool.objects.get(name="t.a")
    versions.withdraw(tool, by="person:owner", why="it books twice")
    if when == "before the click":
        assert approve(approval, desk).turned_down == "version"
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.reason, effect.blocked_by[0]["is"]) == ("blocked", "version", "withdrawn")
    assert world.sends == []
    versions.let_go(effect.id, by="person:owner", why="this one is harmless")
    drain_once()
    for asked in Approval.objects.filter(run=run, state="asked"):
        approve(asked, desk)
    drain_once()
    assert (again(run).state, len(world.sends)) == ("completed", 1)


def test_what_waited_for_persons_while_its_tool_was_replaced_waits_for_a_decision(
    world: World, asking: Asking, tool: Make, desk: User
) -> None:
    run, approval = asking()
    old = Tool.objects.get(name="t.a")
    Tool.objects.filter(id=old.id).update(current=False)
    Tool.objects.create(name="t.a", version=2, kind=old.kind, digest="2", spec=old.spec, owner=old.owner)
    assert approve(approval, desk).turned_down == "version"
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.reason, effect.blocked_by[0]["is"], world.sends) == ("version", "replaced", [])
    versions.give_up(effect.id, by="person:owner", why="start it again with the new one")
    drain_once()
    assert (Effect.objects.get(run=run).state, again(run).state) == ("cancelled", "failed")


def test_running_work_that_nobody_was_asked_about_goes_on_with_the_version_it_began_with(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    Tool.objects.update(current=False)
    drain_once()
    assert again(run).state == "completed"


def test_code_that_changed_since_it_was_asked_for_is_not_called(
    world: World, tool: Make, workflow: Make, begin: Make, run_through: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    effect = Effect.objects.get(run=run)
    rewritten("workflows_effect", "implementation", "0" * 32, effect.id)
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.reason, effect.blocked_by[0]["is"], world.sends) == ("version", "changed", [])
    versions.let_go(effect.id, by="person:owner", why="a comment was changed")
    drain_once()
    assert again(run).state == "completed"


def test_code_that_changed_once_more_goes_by_the_word_on_the_one_before(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    rewritten("workflows_effect", "implementation", "0" * 32, Effect.objects.get(run=run).id)
    drain_once()
    versions.let_go(Effect.objects.get(run=run).id, by="person:owner", why="a comment was changed")
    monkeypatch.setattr(versions, "pins_of", lambda stored: ("", "1" * 32))
    drain_once()
    effect = Effect.objects.get(run=run)
    assert (effect.reason, effect.blocked_by[0]["is"], world.sends) == ("version", "changed", [])


def test_a_withdrawn_tool_goes_on_when_it_is_restored_and_both_are_history(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    made = tool("t.a")
    versions.withdraw(made, by="person:owner", why="it books twice")
    run = run_through(workflow("t.a"))
    assert Effect.objects.get(run=run).reason == "version"
    with pytest.raises(StaleFence, match="withdrawn already"):
        versions.withdraw(made, by="person:owner", why="again")
    versions.restore(made, by="person:owner", why="mended")
    drain_once()
    assert again(run).state == "completed"
    flaws: list[Any] = []
    proof.verify(flaws.append)
    assert flaws == []


def test_versions_are_withdrawn_and_their_waiting_work_decided_from_the_command_line(
    world: World,
    asking: Asking,
    person: Make,
) -> None:
    person("owner")
    run, _ = asking()

    def told(*words: str) -> Any:
        out = io.StringIO()
        call_command("tool_version", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert told("withdraw", "t.a v1", "--by", "owner", "--why", "it books twice") == {
        "tool": "t.a v1",
        "act": "withdraw",
    }
    drain_once()
    [waiting] = told("waiting")["waiting"]
    assert (waiting["run"], waiting["is"]) == (str(run.id), "withdrawn")
    assert told("give-up", waiting["effect"], "--by", "owner", "--why", "start again")["state"] == "cancelled"
    with pytest.raises(CommandError, match="must be an effect's id"):
        call_command("tool_version", "let-go", "nonsense", "--by", "owner", "--why", "x")
    with pytest.raises(CommandError, match=r"there are t\.a v1"):
        call_command("tool_version", "restore", "t.b", "--by", "owner", "--why", "x")
