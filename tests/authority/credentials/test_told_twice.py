"""What is told of a credential that is known already, or of one that isn't there: it changes nothing, and waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.authority.credentials.crm import grant, parked
from tests.authority.oauth_server import Server
from workflows.authority import credentials
from workflows.drain import drain_once
from workflows.models import Credential, Entry
from workflows.outcomes import Rejected

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_what_needs_a_credential_that_nobody_brought_is_sent_or_tried_again_and_again(
    server: Server, crm: None, workflow: Make, begin: Make
) -> None:
    run = begin(workflow("crm.create"))
    drain_once()
    assert parked(run) == [("blocked", "hold", 0, ["CRM"])]
    assert run.effects.get().due_at is None
    assert server.sends == []


def test_a_refusal_counts_of_a_token_that_was_renewed_since_or_twice(server: Server, db: None) -> None:
    row = grant(server)
    Credential.objects.filter(id=row.id).update(generation=2, wanted_at=None)
    credentials.heed([Rejected("CRM", 1)])
    assert Credential.objects.get().refusals == 0
    for _ in range(2):
        credentials.heed([Rejected("CRM", 2)])
    now = Credential.objects.get()
    assert (now.state, now.refused, now.refusals) == ("ready", 2, 1)
    assert now.wanted_at is not None
    credentials.want(["CRM"])
    assert Credential.objects.get().wanted_at == now.wanted_at, "who asked first is forgotten"


def test_a_token_without_the_scope_is_asked_for_again_and_a_lost_one_too(server: Server, db: None) -> None:
    row = grant(server)
    Credential.objects.filter(id=row.id).update(generation=2, wanted_at=None)
    for _ in range(2):
        credentials.heed([Rejected("CRM", 2, lasting="its scope is not sufficient")])
    assert (Credential.objects.get().state, Credential.objects.get().why) == ("lost", "its scope is not sufficient")
    assert Entry.objects.filter(subject_id=row.id, event="lose").count() == 1
    credentials.want(["CRM"])
    assert Credential.objects.get().wanted_at is None
