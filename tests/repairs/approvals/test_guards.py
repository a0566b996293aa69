"""Each guard of the approval page in a pair: with it nothing is decided, and with it patched away the same click is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs.acts import approve as acts
from repairs.views import approval_says as views
from tests.engine.simulated import World
from tests.repairs.approvals.pages import form, say, state
from workflows.drain import drain_once
from workflows.engine import peek
from workflows.models import Approval

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Sent = dict[str, str]


def cut(approval: Approval, page: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> Sent:
    return form(page, approval)


def wrong_answer(approval: Approval, page: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> Sent:
    return form(page, approval, "?whole=1", answer="0123456789abcdef")


def read_since(approval: Approval, page: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> Sent:
    sent = form(page, approval, "?whole=1")
    peek.ask(approval.id)
    drain_once()
    return sent


def read_long_ago(approval: Approval, page: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> Sent:
    monkeypatch.setattr(acts, "FRESH", dt.timedelta(seconds=-1))
    return form(page, approval, "?whole=1")


def anothers_name(approval: Approval, page: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> Sent:
    sent = form(page, approval, "?whole=1")
    session = page.session
    session["hijack_history"] = ["7"]
    session.save()
    return sent


@pytest.mark.parametrize("guard", ["on", "off"])
@pytest.mark.parametrize(
    ("scenario", "where", "name"),
    [
        (cut, acts, "was_shown"),
        (wrong_answer, acts, "answered"),
        (read_since, acts, "target_is_fresh"),
        (read_long_ago, acts, "target_is_fresh"),
        (anothers_name, views, "itself"),
    ],
)
def test_the_click_decides_only_without_its_guard(
    asking: Make, client: Client, world: World, monkeypatch: pytest.MonkeyPatch,
    scenario: Callable[..., Sent], where: Any, name: str, guard: str,
) -> None:  # fmt: skip
    approval = asking({"amount": 5, "text": "x" * 1000})
    sent = scenario(approval, client, world, monkeypatch)
    if guard == "off":
        monkeypatch.setattr(where, name, lambda *_args, **_more: None)
    say(client, approval, **sent)
    assert state(approval) == ("asked" if guard == "on" else "granted")


@pytest.mark.parametrize("guard", ["on", "off"])
def test_a_page_is_good_only_for_whom_it_was_made(
    asking: Make, client: Client, person: Make, browse: Make, monkeypatch: pytest.MonkeyPatch, guard: str
) -> None:
    approval = asking()
    sent = form(browse(person("second", "approver")), approval)
    if guard == "off":
        real = acts.seen_of
        monkeypatch.setattr(acts, "seen_of", lambda note, pk, by: real(note, pk, User.objects.get(username="second")))
    say(client, approval, **sent)
    assert state(approval) == ("asked" if guard == "on" else "granted")
