"""Each guard of notices in a pair: with it people are told once, of what is, and patched away the same goes wrong."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F

from config import notices
from repairs.models import Case, Notice
from repairs.notices import nearing, sending, telling
from tests.repairs.receiving import Hook
from workflows import rows

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])


@pytest.fixture
def hook(settings: Any) -> Iterator[Hook]:
    made = Hook()
    with made.open() as url:
        settings.NOTICES = notices.receivers(f"repairer={url}")
        yield made


@on_and_off
def test_who_was_told_is_told_again(guard: str, stuck: Make, hook: Hook) -> None:
    case = stuck()
    with without_constraint() if guard == "off" else contextlib.nullcontext():
        with transaction.atomic():
            telling.of_cases([case], rows.now())
        sending.send()
        assert hook.told[0]["title"] == "Makegood: 1 new case"
        assert Notice.objects.count() == (1 if guard == "on" else 2)


@on_and_off
def test_an_attempt_whose_end_nobody_knows_is_repeated_for_ever(
    guard: str, stuck: Make, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck()
    monkeypatch.setattr(sending, "record", lambda *args: 1 / 0)
    for _ in range(sending.MOST_ATTEMPTS + 2):
        with contextlib.suppress(ZeroDivisionError):
            sending.send()
        Notice.objects.update(due_at=F("created_at"), **({"attempts": 0} if guard == "off" else {}))
    assert len(hook.told) == sending.MOST_ATTEMPTS + (0 if guard == "on" else 2)


@on_and_off
def test_a_dead_receiver_is_asked_at_every_turn(
    guard: str, stuck: Make, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    if guard == "off":
        monkeypatch.setattr(sending, "FIRST_PAUSE", 0.0)
    hook.status = 503
    stuck()
    for _ in range(3):
        sending.send()
    assert Notice.objects.get().attempts == (1 if guard == "on" else 3)


@on_and_off
def test_people_are_sent_to_what_is_over(guard: str, stuck: Make, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    case = stuck()
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now())
    if guard == "off":
        monkeypatch.setattr(sending, "still_true", lambda found: {notice.id for notice in found})
    sending.send()
    assert bool(hook.told) is (guard == "off")


@on_and_off
def test_after_an_outage_old_news_is_told(guard: str, stuck: Make, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    case = stuck()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE repairs_case SET opened_at = now() - interval '9 days', deadline = now() - interval '8 days'"
            " WHERE id = %s",
            [case.id],
        )
    if guard == "off":
        monkeypatch.setattr(nearing, "NEAR", nearing.NEAR.replace("interval '1 day'", "interval '90 days'"))
    nearing.near(rows.now())
    assert Notice.objects.filter(what="deadline").exists() is (guard == "off")


@on_and_off
def test_the_library_writes_an_address_into_the_log(
    guard: str, stuck: Make, hook: Hook, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if guard == "off":
        for name in ("apprise", "urllib3"):
            monkeypatch.setattr(logging.getLogger(name), "propagate", True)
            caplog.set_level(logging.DEBUG, logger=name)
    stuck()
    sending.send()
    assert ("hidden-path" in caplog.text) is (guard == "off")


@contextlib.contextmanager
def without_constraint() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE repairs_notice DROP CONSTRAINT told_once")
    try:
        yield
    finally:
        Notice.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute('ALTER TABLE repairs_notice ADD CONSTRAINT told_once UNIQUE (what, subject, "to", mark)')
