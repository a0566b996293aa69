"""A CRM behind an authorization server, granting what its tool needs, and what of a run waits for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.authority.oauth_server import Server
from tests.authority.test_stops import turn_until
from workflows.authority.bringing import Brought, bring
from workflows.drain import Drain
from workflows.engine.cancel import cancel
from workflows.models import Agent, Credential, Effect, Run

Make = Callable[..., Any]

TOOL = """
tools:
  crm.create:
    version: 1
    kind: http
    profile: {effect_class: reversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [], owner: crm-desk, customer_visible: false, residue: "A contact stands."}
    idempotency: {by: native_key, retention: 1h}
    arguments: {type: object}
    execute: {method: POST, url: "URL/things", auth: {oauth: CRM}, json: {key: "${ key }"}, timeout: 5s,
              result: {id: "${ body.id }"}}
    verify: {url: "URL/things/${ key }", auth: {oauth: CRM}, found: "status == 200", absent: "status == 404",
             result: {id: "${ body.id }"}, settle: 0s, every: 50ms}
    compensate:
      method: DELETE
      url: "URL/things/${ result.id }"
      auth: {oauth: UNDO}
      verify: {url: "URL/things/${ result.id }", auth: {oauth: UNDO}, found: "status == 404", absent: "status == 200",
               every: 50ms}
    retry: {attempts: 2, first: 10ms, max: 20ms, within: 1m}
"""


def grant(server: Server, name: str = "CRM", refresh: str | None = "", **options: Any) -> Credential:
    """`refresh` None: the client itself is the grant."""
    brought = Brought(
        refresh=None if refresh is None else refresh or server.refresh,
        token_url=f"{server.url}/token",
        client="makegood",
        **options,
    )
    return bring(name, brought, by="command:ops", why="for the tests")


def parked(run: Run) -> list[tuple[str, str, int, Any]]:
    found = Effect.objects.filter(run=run).order_by("id")
    return [(e.state, e.reason, e.attempts, [b.get("credential") for b in e.blocked_by]) for e in found]


def undone_by_cancel(workflow: Make, begin: Make, agent: Agent) -> Run:
    """A run whose first effect is verified and whose second waits for what never comes; then it is cancelled."""
    made = workflow("crm.create", "crm.create")
    made.spec["steps"][1].update(name="later", after=["create"])
    made.save()
    run: Run = begin(made)
    drain = Drain(slots=1)
    turn_until(drain, Effect.objects.filter(run=run, step__name="create", state="verified").exists)
    drain.close()
    cancel(agent, run.id, reason="the customer left")
    return run
