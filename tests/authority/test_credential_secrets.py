"""A secret that isn't set parks what needs it, however long, and lets it go once an operator has set it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.authority.oauth_server import Server, serving
from tests.engine.conftest import again
from workflows import catalog, toolbox
from workflows.drain import drain_once
from workflows.models import Agent, Effect
from workflows.tasks import sweep
from workflows.tools.manifest import load_texts

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

TOOL = """
tools:
  crm.create:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none, autonomy: auto,
              privileges: [], owner: crm-desk, customer_visible: false, residue: "A contact stands."}
    idempotency: {by: native_key, retention: 1h}
    arguments: {type: object}
    execute: {method: POST, url: "URL/things", auth: {bearer: "${ secret('CRM_TOKEN') }"},
              headers: {Idempotency-Key: "${ key }"}, json: {key: "${ key }"}}
    retry: {attempts: 2, first: 10ms, max: 20ms, within: 1ms}
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found
        toolbox.forget()


def test_what_needs_a_secret_that_is_not_set_waits_for_it_and_no_attempt_is_used_up(
    server: Server, agent: Agent, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.apply(load_texts([("m.yaml", TOOL.replace("URL", server.url))]))
    run = begin(workflow("crm.create"))
    drain_once()
    effect = Effect.objects.get()
    assert (effect.state, effect.reason, effect.attempts) == ("blocked", "hold", 0)
    why = "it isn't set; set MAKEGOOD_SECRET_CRM_TOKEN or MAKEGOOD_SECRET_CRM_TOKEN_FILE"
    assert effect.blocked_by == [{"secret": "CRM_TOKEN", "why": why}]
    sweep()
    drain_once()
    assert Effect.objects.get().seq == effect.seq, "nothing is written about waiting on"
    monkeypatch.setenv("MAKEGOOD_SECRET_CRM_TOKEN", "the-token")
    server.valid.add("the-token")
    sweep()
    drain_once()
    assert (again(run).state, [token for _, _, token in server.sends]) == ("completed", ["the-token"])
