"""Tokens are renewed by one asker at a time, and an answer is kept before it is used (C51)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from tests import locks
from tests.authority.credentials.crm import grant, undone_by_cancel
from tests.authority.oauth_server import Server
from tests.authority.test_stops import turn_until
from tests.engine.conftest import again
from workflows import proof, rows
from workflows.authority import credentials, sealing
from workflows.drain import Drain, drain_once
from workflows.engine import call, dispatch, refresh
from workflows.engine.advance import advance
from workflows.models import Agent, Credential, Entry, Payload

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])
PATIENCE = 20.0  # seconds: how long a test waits for what must come


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


@pytest.mark.parametrize("lives", [1e12, float("inf"), 10**400])
def test_a_token_that_lives_for_ever_is_lost_with_the_one_that_renews_it(
    server: Server, crm: None, workflow: Make, begin: Make, lives: float
) -> None:
    server.lives = lives
    grant(server)
    run = begin(workflow("crm.create"))
    drain_once()
    assert again(run).state == "completed"
    ends = Credential.objects.get(name="CRM").expires_at
    assert ends is None or ends.year < 3000


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


def test_who_is_told_to_wait_for_a_token_that_came_that_moment_waits_for_nobody(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    """Whoever renews it wakes those it finds waiting, and this one isn't among them yet."""
    grant(server)
    grant(server, "UNDO", None)
    flow = workflow("crm.create")
    begin(flow)
    drain_once()
    kept = Credential.objects.get(name="CRM").expires_at
    Credential.objects.filter(name="CRM").update(expires_at=rows.now())
    begin(flow)
    advance()
    found: list[Any] = []
    with transaction.atomic():
        Credential.objects.filter(name="CRM").update(expires_at=kept)
        asks = locks.begun(lambda: found.extend(dispatch.dispatch(8)))
    asks.join(PATIENCE)
    assert [effect.state for effect in found] == ["dispatched"]


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
