"""Credentials whose tokens are renewed (C51), against a real authorization server: one asks at a time, an answer is
kept before it is used, and what is lost parks effects instead of failing them."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from config import health
from tests.authority.oauth_server import Server, serving
from tests.authority.test_stops import turn_until
from tests.engine.conftest import again, states
from workflows import catalog, proof, reading, rows, toolbox
from workflows.authority import credentials, sealing
from workflows.authority.bringing import Brought, bring
from workflows.drain import Drain, drain_once
from workflows.engine import call, dispatch, refresh
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.models import Agent, Attempt, Credential, Effect, Entry, Look, Payload, Run
from workflows.tools import tokens
from workflows.tools.manifest import load_texts

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])
PATIENCE = 20.0  # seconds: how long a test waits for what must come

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


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        credentials._open.clear()
        yield found
        toolbox.forget()


@pytest.fixture
def crm(server: Server, agent: Agent) -> None:
    catalog.apply(load_texts([("m.yaml", TOOL.replace("URL", server.url))]))


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


def test_a_token_is_asked_for_once_and_serves_everything(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    grant(server)
    grant(server, "UNDO", None)
    runs = [begin(workflow("crm.create")) for _ in range(3)]
    drain_once()
    assert {again(run).state for run in runs} == {"completed"}
    forms = [form["grant_type"] for form in server.asked]
    assert sorted(forms) == ["client_credentials", "refresh_token"]
    assert len({token for _, _, token in server.sends}) == 1


def test_undoing_carries_the_credential_that_is_declared_for_it(
    server: Server, crm: None, workflow: Make, begin: Make, agent: Agent
) -> None:
    grant(server)
    grant(server, "UNDO", None)
    run = undone_by_cancel(workflow, begin, agent)
    drain_once()
    assert (again(run).state, server.things) == ("compensated", {})
    by_method = {method: {token for m, path, token in server.sends if m == method} for method in ("POST", "DELETE")}
    assert by_method["POST"].isdisjoint(by_method["DELETE"])


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


def test_two_workers_whose_token_is_over_ask_once(server: Server, crm: None, workflow: Make, begin: Make) -> None:
    """The old refresh token serves once: a second request with it would end the whole family."""
    grant(server)
    grant(server, "UNDO", None)
    flow = workflow("crm.create")
    begin(flow)
    drain_once()
    before = len(server.asked)
    Credential.objects.filter(name="CRM").update(expires_at=rows.now())
    runs = [begin(flow) for _ in range(4)]
    start = threading.Barrier(2)

    def work() -> None:
        try:
            start.wait(PATIENCE)
            drain_once(slots=4)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work) for _ in range(2)]:
            done.result()
    drain_once()
    assert {again(run).state for run in runs} == {"completed"}
    assert (len(server.asked) - before, server.dead) == (1, False)


@on_and_off
def test_one_process_at_a_time_asks_for_a_token(
    guard: str, server: Server, crm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes see that it is over at once. Off: both ask, and the family is dead."""
    grant(server)
    first = refresh.claim()
    if guard == "off":
        Credential.objects.update(state="ready")
    second = refresh.claim()
    assert len(first) == 1
    assert len(second) == (0 if guard == "on" else 1)
    with ThreadPoolExecutor(1) as pool:
        answers = [(one, future.result()) for one, future in refresh.begin([*first, *second], pool)]
    assert server.dead == (guard == "off")
    refresh.record(answers[:1])
    assert len(server.asked) == len(answers)


def test_a_renewal_is_an_entry_of_history_before_it_is_asked_for_and_no_token_is_ever_in_one(
    server: Server, crm: None
) -> None:
    grant(server)
    asked = refresh.claim()
    assert [e.event for e in Entry.objects.filter(subject_kind="credential").order_by("seq")] == ["bring", "ask"]
    assert server.asked == []
    with ThreadPoolExecutor(1) as pool:
        [(one, future)] = refresh.begin(asked, pool)
        refresh.record([(one, future.result())])
    told = list(Entry.objects.filter(subject_kind="credential").order_by("seq").values_list("event", "after"))
    assert told == [("bring", "ready"), ("ask", "renewing"), ("renew", "ready")]
    flaws: list[Any] = []
    assert proof.verify(flaws.append).entries >= 3
    assert flaws == []
    row = Credential.objects.get()
    kept = json.loads(sealing.unseal(row.sealed))
    assert kept == {"access": "access-token-1", "refresh": "refresh-1"}
    everything = json.dumps(list(Payload.objects.values_list("data", flat=True))) + repr(one) + row.sealed
    assert not any(text in everything for text in [*server.given, "refresh-0"])


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("answer lost", "its refresh token may be used up"),
        ("asker gone", "whoever asked for a new token is gone; its refresh token may be used up"),
        ("denied", "invalid_grant"),
    ],
)
def test_a_lost_credential_parks_what_needs_it_and_a_new_one_lets_it_go(
    trouble: str, why: str, server: Server, crm: None, workflow: Make, begin: Make, client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(health, "CHECKS", {})
    grant(server, "UNDO", None)
    grant(server)
    drain_once()
    Credential.objects.filter(name="CRM").update(expires_at=rows.now())
    if trouble == "answer lost":
        server.drop = 1
    elif trouble == "asker gone":
        credentials.want({"CRM"})
        assert len(refresh.claim()) == 1
        Credential.objects.filter(name="CRM").update(lease_until=rows.now())
        credentials.wanted.set()
    else:
        server.dead = True
    run = begin(workflow("crm.create"))
    drain_once()
    row = Credential.objects.get(name="CRM")
    assert (row.state, why in row.why) == ("lost", True)
    assert parked(run) == [("blocked", "hold", 0, ["CRM"])], "no attempt is used up"
    assert server.sends == []
    [shown] = reading.run_in_full(again(run))["blocked_by"]
    assert shown["by"][0]["why"].startswith("it was lost: ")
    assert "CRM" in client.get("/health/ready").json()["notes"]["credentials"]
    before = len(server.asked)
    drain_once()
    assert len(server.asked) == before, "nothing is asked with a grant that may be used up"
    server.refresh, server.dead = "brought-by-hand", False
    bring("CRM", Brought(refresh="brought-by-hand"), by="command:ops", why="logged in again")
    drain_once()
    assert (again(run).state, server.asked[-1]["refresh_token"]) == ("completed", "brought-by-hand")


def test_an_answer_that_comes_after_all_brings_the_credential_back(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    """Whoever asked had only been asleep; its answer holds the one refresh token that serves."""
    grant(server)
    grant(server, "UNDO", None)
    asked = [one for one in refresh.claim() if one[0].name == "CRM"]
    Credential.objects.filter(name="CRM").update(lease_until=rows.now())
    credentials.wanted.set()
    run = begin(workflow("crm.create"))
    drain_once()
    assert Credential.objects.get(name="CRM").state == "lost"
    with ThreadPoolExecutor(1) as pool:
        [(one, future)] = refresh.begin(asked, pool)
        refresh.record([(one, future.result())])
    drain_once()
    assert again(run).state == "completed"


@pytest.mark.parametrize("way", ["busy", "reused"])
def test_what_may_be_asked_again_is_asked_again(
    way: str, server: Server, crm: None, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that does nothing for a moment, and a lost answer where the same refresh token serves again."""
    monkeypatch.setattr(refresh, "FIRST", 0.02)
    monkeypatch.setattr(credentials, "RENEWED_WITHIN", credentials.RENEWED_WITHIN / 60)
    server.rotates = way == "busy"
    server.busy, server.drop = (1, 0) if way == "busy" else (0, 1)
    grant(server, rotates=way == "busy")
    grant(server, "UNDO", None)
    run = begin(workflow("crm.create"))
    drain = Drain(slots=2)
    turn_until(drain, lambda: again(run).state == "completed")
    drain.close()
    assert Credential.objects.get(name="CRM").state == "ready"


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
def test_a_refused_credential_in_the_middle_of_a_run_undoes_nothing_and_calls_with_no_other(
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


def test_an_undoing_whose_credential_is_revoked_waits_visibly_and_is_done_with_a_new_one(
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


def test_a_token_is_placed_when_the_call_begins_not_when_it_was_dispatched(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    """C51: an attempt that waits between dispatch and call carries the token of that later moment."""
    grant(server)
    grant(server, "UNDO", None)
    drain_once()
    begin(workflow("crm.create"))
    advance()
    effects = dispatch.dispatch(1)
    credentials.want({"CRM"})
    asked = refresh.claim()
    with ThreadPoolExecutor(2) as pool:
        refresh.record([(one, future.result()) for one, future in refresh.begin(asked, pool)])
        [(_, future)] = call.begin(effects, pool, effects[0].sending.started_at)
        future.result()
    assert [token for _, _, token in server.sends] == [server.given[-2]]


def test_secrets_are_in_no_row_no_page_and_no_log(
    server: Server,
    crm: None,
    workflow: Make,
    begin: Make,
    caplog: pytest.LogCaptureFixture,
    person: Make,
    browse: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_CLIENT", "the-clients-secret")
    caplog.set_level(logging.DEBUG)
    grant(server, secret="CLIENT")
    grant(server, "UNDO", None)
    flow = workflow("crm.create")
    begin(flow)
    drain_once()
    server.revoke()
    server.dead = True
    run = begin(flow)
    drain_once()
    assert parked(run)[0][:2] == ("blocked", "hold")
    texts = [*server.given, "refresh-0", "the-clients-secret"]
    models = (Attempt, Look, Effect, Run, Payload, Credential)
    rows_ = [str(list(model._default_manager.values())) for model in models]
    desk = browse(person("desk", "repairer", "operator"))
    pages = [desk.get(address).content.decode() for address in ("/", f"/runs/{run.id}/", "/stops/")]
    pages += [desk.get(f"/runs/{run.id}/effects/{Effect.objects.get(run=run).id}").content.decode()]
    out = io.StringIO()
    call_command("credential", "--json", stdout=out)
    for place in [*rows_, *pages, caplog.text, out.getvalue()]:
        assert [text for text in texts if text in place] == []
    assert "CRM" in pages[2]


def test_a_credential_sealed_elsewhere_is_lost_and_says_so(server: Server, crm: None, settings: Any) -> None:
    grant(server)
    settings.INSTALL_SECRET = "another install's secret, long enough to be one of them" * 2
    drain_once()
    assert Credential.objects.get().why == "what is kept of it was sealed under another install secret"
    assert server.asked == []


def test_what_an_operator_brings_is_checked_whole(server: Server, db: None, tmp_path: Any) -> None:
    bad: tuple[tuple[dict[str, Any], str], ...] = (
        ({"token_url": "ftp://x"}, "--token-url"),
        ({"token_url": "https://user:hidden-password@host/token"}, "--token-url"),
        ({"client": ""}, "--client"),
        ({"secret": "the secret itself"}, "--client-secret"),
        ({"refresh": "two words"}, "the refresh token"),
    )
    for change, path in bad:
        whole = {"refresh": "r", "token_url": "https://host/token", "client": "c", **change}
        with pytest.raises(Exception, match=path) as refused:
            bring("CRM", Brought(**whole), by="command:ops", why="x")
        assert "hidden-password" not in str(refused.value)
        assert "two words" not in str(refused.value)
    with pytest.raises(Exception, match="NAME"):
        bring("crm", Brought(refresh="r", token_url="https://host/token", client="c"), by="command:ops", why="x")
    assert not Credential.objects.exists()


def test_the_command_brings_a_grant_from_a_file_and_lists_it(server: Server, db: None, tmp_path: Any) -> None:
    file = tmp_path / "refresh"
    file.write_text("refresh-0\n")
    out = io.StringIO()
    words = ["--token-url", f"{server.url}/token", "--client", "c", "--refresh-token", str(file), "--why", "first"]
    call_command("credential", "CRM", *words, "--json", stdout=out)
    assert json.loads(out.getvalue())["state"] == "ready"
    drain_once()
    out = io.StringIO()
    call_command("credential", stdout=out)
    assert out.getvalue() == "CRM  ready  operations\n"
    with pytest.raises(CommandError, match="Say which grant"):
        call_command("credential", "CRM")
    with pytest.raises(CommandError, match="--refresh-token /nowhere"):
        call_command("credential", "CRM", "--refresh-token", "/nowhere", "--why", "x")
