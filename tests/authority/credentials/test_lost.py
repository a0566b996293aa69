"""A credential that is lost parks effects instead of failing them, and no secret of it is anywhere to be read (C51)."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from config import health
from tests.authority.credentials.crm import grant, parked
from tests.authority.oauth_server import Server
from tests.engine.conftest import again
from workflows import reading, rows
from workflows.authority import credentials
from workflows.authority.bringing import Brought, bring
from workflows.drain import drain_once
from workflows.engine import refresh
from workflows.models import Attempt, Credential, Effect, Look, Payload, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


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
