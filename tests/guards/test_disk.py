"""With the disk nearly full nothing new is begun, what is under way ends, and work goes on once there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.house import disk
from tests.api.conftest import Caller, read
from tests.engine.conftest import again
from tests.engine.simulated import World
from tests.guards.test_engine import drain, until
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
MORE_THAN_ANY_DISK = 1e6  # as a share of it


@pytest.fixture
def nearly_full(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """Says whether more must be free than any disk has: the look at the disk itself is a real one."""
    monkeypatch.setattr(disk, "SHARE", MORE_THAN_ANY_DISK)

    def say(full: bool) -> None:
        settings.LEAST_FREE = 2**62 if full else 0
        monkeypatch.setattr(disk, "_seen", (0.0, ""))

    yield say
    say(False)


@pytest.mark.parametrize("guard", ["on", "off"])
def test_an_effect_is_sent_although_its_outcome_could_not_be_recorded(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, nearly_full: Any, monkeypatch: Any
) -> None:
    """Off: the drain doesn't ask."""
    tool("t.a")
    run = begin(workflow("t.a"))
    nearly_full(True)
    if guard == "off":
        monkeypatch.setattr(disk, "low", lambda: "")
    with drain() as work:
        until(lambda: Effect.objects.filter(run=run).exists(), work)
        for _ in range(3):
            work.turn()
        assert bool(world.sends) == (guard == "off")
        nearly_full(False)
        until(lambda: again(run).state == "completed", work)
    assert len(world.sends) == 1


def test_a_call_under_way_when_the_disk_fills_is_not_recorded_and_verified(
    world: World, tool: Make, workflow: Make, begin: Make, nearly_full: Any
) -> None:
    tool("t.a")
    tool("t.b")
    run = begin(workflow("t.a", "t.b"))
    world.inside = lambda _call: nearly_full(True)
    with drain() as work:
        until(lambda: Effect.objects.filter(run=run, state="verified").exists(), work)
        assert [name for name, *_ in world.sends] == ["t.a"]


def test_a_new_run_is_taken_with_the_disk_nearly_full_or_a_known_one_can_not_be_replayed(
    agent: Any, tool: Make, workflow: Make, nearly_full: Any
) -> None:
    tool("t.a")
    caller, body = Caller(agent), {"workflow": workflow("t.a").name, "subject": {"type": "customer", "id": "c"}}
    assert caller.post("runs", body, key="first").status_code == 201
    nearly_full(True)
    refused = caller.post("runs", body, key="second")
    assert (refused.status_code, read(refused)["code"]) == (503, "unavailable")
    assert "nothing new is sent" in read(refused)["detail"]
    assert refused.headers["Retry-After"]
    assert Run.objects.count() == 1
    assert caller.post("runs", body, key="first").status_code == 200


def test_the_console_or_health_keeps_silent_about_a_full_disk(client: Client, nearly_full: Any) -> None:
    client.force_login(User.objects.create_user("night desk", is_staff=True))
    assert b"No room." not in client.get("/").content
    nearly_full(True)
    assert b"No room." in client.get("/").content
    assert "MB are free" in client.get("/health/ready").json()["problems"]["disk"]
