"""Stops from the command line, and what health and doctor say of them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from config import health
from tests.authority.test_stops import freeze, held
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows.authority import stops
from workflows.drain import drain_once
from workflows.models import Stop
from workflows.tasks import sweep

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_a_tool_is_frozen_listed_and_lifted_by_command(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    said = json.loads(run("freeze", "tool", "t.a", "--why", "odd answers", "--until", "2h", "--one-person", "--json"))
    assert (said["on"], said["why"], said["quiet"], said["second_person"]) == ("tool t.a", "odd answers", True, False)
    one = begin(workflow("t.a"))
    drain_once()
    assert held(one) == [("blocked", "hold", [said["stop"]])]
    assert [stop["stop"] for stop in json.loads(run("freeze", "--json"))["frozen"]] == [said["stop"]]
    assert "tool t.a by command" in run("freeze")
    assert json.loads(run("unfreeze", "tool", "t.a", "--why", "well again", "--json"))["lifted"][0]["on"] == "tool t.a"
    drain_once()
    assert (again(one).state, run("freeze")) == ("completed", "Nothing is frozen.\n")


def test_one_who_froze_everything_by_command_cannot_lift_it_by_command(db: None) -> None:
    run("freeze", "everything", "--why", "a leak")
    with pytest.raises(CommandError, match="another person must lift it"):
        run("unfreeze", "everything", "--why", "again")
    assert Stop.objects.get().state == "frozen"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("freeze", "tool", "t.none", "--why", "x"), "name: is no tool here"),
        (("freeze", "everything"), "why: says nothing"),
        (("freeze", "everything", "--why", "x", "--until", "tomorrow"), "until: must be a length like 30m"),
        (("freeze", "everything", "--why", "x", "--until", "2026-12-01T06:00"), "with its zone"),
        (("unfreeze", "--why", "x"), "Say what to lift"),
        (("unfreeze", "everything", "--why", "x"), "everything is not frozen"),
        (("unfreeze", "--id", "019a0000-0000-7000-8000-000000000000", "--why", "x"), "no such stop"),
    ],
)
def test_a_command_that_can_not_be_carried_out_says_what_to_do(db: None, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run(*words)
    assert not Stop.objects.exists()


def test_health_stays_ready_and_says_what_is_frozen(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECKS", {})
    freeze("subject", "customer:7")
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    assert answer.json()["notes"]["stops"].startswith("Frozen: subject customer:7 since ")


def test_the_sweep_ends_what_is_over(db: None) -> None:
    freeze()
    Stop.objects.update(until="2026-01-01T00:00Z")
    assert stops.in_force() == ""
    sweep()
    assert Stop.objects.get().state == "ended"
