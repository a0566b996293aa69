"""A token that a provider refuses: what needs it waits, nothing fails, nothing is undone by another (C51)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.authority.credentials.crm import TOOL, grant, parked, undone_by_cancel
from tests.authority.oauth_server import Server
from tests.authority.test_stops import turn_until
from tests.engine.conftest import again, states
from workflows import catalog
from workflows.authority import credentials
from workflows.authority.bringing import Brought, bring
from workflows.drain import Drain, drain_once
from workflows.engine import dispatch
from workflows.engine.advance import advance
from workflows.models import Agent, Attempt, Credential, Effect, Look
from workflows.tools import tokens
from workflows.tools.manifest import load_texts

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_token_that_is_refused_is_renewed_and_no_attempt_is_used_up(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    grant(server)
    grant(server, "UNDO", None)
    flow = workflow("crm.create")
    begin(flow)
    drain_once()
    server.revoke()
    run = begin(flow)
    drain_once()
    assert (again(run).state, Effect.objects.get(run=run).attempts) == ("completed", 1)
    outcomes = [a.outcome for a in Attempt.objects.filter(effect__run=run).order_by("id")]
    assert outcomes == ["temporary", "acknowledged"]


def test_a_provider_that_refuses_every_new_token_loses_the_credential_and_is_left_alone(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    grant(server)
    grant(server, "UNDO", None)
    real = server.token

    def useless(form: dict[str, str]) -> Any:
        told = real(form)
        server.valid.clear()
        return told

    server.token = useless  # type: ignore[method-assign]
    run = begin(workflow("crm.create"))
    drain_once()
    assert parked(run) == [("blocked", "hold", 0, ["CRM"])]
    assert Credential.objects.get(name="CRM").why == "the provider refuses even new tokens"
    assert len(server.sends) == credentials.MOST_REFUSALS + 1


@pytest.mark.parametrize(("refusal", "guard"), [("revoked", "on"), ("scope", "on"), ("revoked", "off")])
def test_c51_a_refused_credential_in_the_middle_of_a_run_undoes_nothing_and_calls_with_no_other(
    refusal: str,
    guard: str,
    server: Server,
    crm: None,
    workflow: Make,
    begin: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """C51: 401 and 403 speak of who asked. The step waits; nothing is undone with the more powerful token of UNDO.
    Off: who was refused is taken for what was refused."""
    if guard == "off":
        monkeypatch.setattr(tokens, "rejected", lambda token, answer: None)
    grant(server)
    grant(server, "UNDO", None)
    made = workflow("crm.create", "crm.create")
    made.spec["steps"][1].update(name="second", after=["create"])
    made.save()
    run = begin(made)
    real = server.resource

    def refuses_the_second(method: str, path: str, token: str, body: Any) -> Any:
        if method == "POST" and server.things:
            server.dead, server.scope_missing = refusal == "revoked", refusal == "scope"
            if refusal == "revoked":
                server.revoke()
        return real(method, path, token, body)

    server.resource = refuses_the_second  # type: ignore[method-assign]
    drain_once()
    if guard == "off":
        assert again(run).state != "running"
        assert any(method == "DELETE" for method, _, _ in server.sends)
        return
    assert again(run).state == "running"
    assert Credential.objects.get(name="CRM").state == "lost"
    assert states(again(run))["create forward"] == "verified present"
    assert Effect.objects.get(run=run, step__name="second").reason == "hold"
    assert all(method != "DELETE" for method, _, _ in server.sends)


def test_c51_an_undoing_whose_credential_is_revoked_waits_visibly_and_is_done_with_a_new_one(
    server: Server, crm: None, workflow: Make, begin: Make, agent: Agent
) -> None:
    """C51: revoked between do and undo."""
    grant(server, refresh=None)
    grant(server, "UNDO")
    drain_once()
    run = undone_by_cancel(workflow, begin, agent)
    server.dead = True
    server.revoke()
    drain_once()
    undoing = list(Effect.objects.filter(run=run, kind="compensation", state="blocked", reason="hold"))
    assert undoing
    assert {b["credential"] for e in undoing for b in e.blocked_by} == {"UNDO"}
    assert all(e.attempts == 0 for e in undoing)
    server.dead, server.refresh = False, "undo-again"
    bring("UNDO", Brought(refresh="undo-again"), by="command:ops", why="logged in again")
    drain_once()
    assert (again(run).state, server.things) == ("compensated", {})


def test_looks_have_a_credential_of_their_own_and_one_that_is_refused_proves_nothing(
    server: Server, agent: Agent, workflow: Make, begin: Make
) -> None:
    """While it is being renewed the act goes on; once it is lost nothing is begun that could never be verified."""
    text = TOOL.replace("URL", server.url).replace("verify: {url", "verify: {method: GET, url", 1)
    head, tail = text.split("verify: {method: GET", 1)
    catalog.apply(
        load_texts([("m.yaml", f"{head}verify: {{method: GET{tail.replace('oauth: CRM', 'oauth: READ', 1)}")])
    )
    grant(server, refresh=None)
    grant(server, "UNDO", None)
    server.rotates = False
    grant(server, "READ")
    flow = workflow("crm.create")
    run = begin(flow)
    drain_once()
    assert again(run).state == "completed"
    posts, gets = ({token for m, _, token in server.sends if m == method} for method in ("POST", "GET"))
    assert posts.isdisjoint(gets)
    server.valid -= gets
    server.dead = True  # no new token for reading
    second = begin(flow)
    drain = Drain(slots=2)
    turn_until(drain, lambda: Credential.objects.get(name="READ").state == "lost")
    drain.close()
    effect = Effect.objects.get(run=second)
    assert (effect.state, effect.world) == ("acknowledged", "unknown")
    looks = Look.objects.filter(effect=effect)
    assert looks
    assert not looks.filter(reached=True).exists()
    third = begin(flow)
    advance()
    assert dispatch.dispatch(1) == []
    assert parked(third) == [("blocked", "hold", 0, ["READ"])]
