"""The same text of a key in another scope is another promise: a second send never rests on it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.authority.oauth_server import Server
from tests.engine import simulated
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import catalog
from workflows.drain import drain_once
from workflows.engine.parts import key_places
from workflows.models import Agent, Attempt, Demotion, Effect
from workflows.tools.manifest import load_texts

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

TOOL = """
tools:
  pay.charge:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none, autonomy: auto,
              privileges: [], owner: finance-desk, customer_visible: false, residue: "A charge stands."}
    idempotency: {by: native_key, retention: 1h, scope: SCOPE}
    arguments: {type: object}
    execute: {method: POST, url: "${ env.PAY_URL }/charges", auth: {bearer: "${ secret('PAY_TOKEN') }"},
              headers: {Idempotency-Key: "${ key }"}, json: {key: "${ key }"}}
    retry: {attempts: 3, first: 10ms, max: 20ms, within: 1m}
"""


@pytest.mark.parametrize(
    ("scope", "changes", "first", "sends"),
    [
        ("global", "key", [503], 2),
        ("account", "key", [503], 2),  # a key that was replaced is still the same account's
        ("credential", "key", [503], 1),
        ("global", "path", [503], 2),
        ("account", "path", [503], 2),
        ("endpoint", "path", [503], 1),
        ("endpoint", "path", [429, 503], 3),  # what was refused is remembered nowhere
        ("account", "host", [503], 1),
        ("credential", "nothing", [503], 2),
        ("endpoint", "nothing", [503], 2),
    ],
)
def test_a_second_send_rests_on_a_key_only_where_that_is_the_same_key(
    server: Server,
    agent: Agent,
    workflow: Make,
    begin: Make,
    monkeypatch: pytest.MonkeyPatch,
    scope: str,
    changes: str,
    first: list[int],
    sends: int,
) -> None:
    """The first answers prove nothing, nobody can look, and meanwhile an operator changes something."""
    monkeypatch.setenv("MAKEGOOD_ENV", "PAY_URL")
    monkeypatch.setenv("PAY_URL", server.url)
    monkeypatch.setenv("MAKEGOOD_SECRET_PAY_TOKEN", "pay-token-1")
    catalog.apply(load_texts([("m.yaml", TOOL.replace("SCOPE", scope))]))

    def resource(method: str, path: str, token: str, body: Any) -> Any:
        server.sends.append((method, path, token))
        number = len(server.sends)
        if number > len(first):
            return 201, {}, ""
        match changes if number == 1 else "":
            case "key":
                monkeypatch.setenv("MAKEGOOD_SECRET_PAY_TOKEN", "pay-token-2")
            case "path":
                monkeypatch.setenv("PAY_URL", f"{server.url}/v2")
            case "host":
                monkeypatch.setenv("PAY_URL", server.url.replace("127.0.0.1", "localhost"))
            case _:
                pass
        return first[number - 1], {}, ""

    server.resource = resource  # type: ignore[method-assign]
    run = begin(workflow("pay.charge"))
    drain_once()
    assert len(server.sends) == sends
    effect = Effect.objects.get(run=run)
    if sends > 1:
        assert again(run).state == "completed"
        return
    assert (effect.state, effect.world, effect.reason) == ("stuck", "unknown", "cannot_know")
    assert f"one key within one {scope} only" in effect.detail
    assert "pay-token" not in str(list(Attempt.objects.values()))


@pytest.mark.parametrize("elsewhere", [True, False])
def test_two_objects_by_sends_to_two_places_demote_nothing(
    world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    numbers = itertools.count()
    monkeypatch.setattr(simulated.SimTool, "key_place", lambda self, call: f"place {next(numbers) * elsewhere}")
    made = tool("t.a")
    made.spec["idempotency"]["scope"] = "endpoint"
    made.save()
    world.script("t.a", "execute", "lost_before", "lost_after")
    world.script("t.a", "look", "absent", "several")
    run = run_through(workflow("t.a"))
    effect = Effect.objects.get(run=run)
    assert (effect.state, effect.world, effect.attempts) == ("stuck", "several", 2)
    assert Demotion.objects.exists() != elsewhere


def test_without_a_declared_scope_nothing_is_read(world: World, tool: Make, workflow: Make, run_through: Make) -> None:
    tool("t.a")
    run = run_through(workflow("t.a"))
    assert key_places.prints(list(run.effects.select_related("tool")), run.created_at) == {}
    assert Attempt.objects.get().key_place == ""
