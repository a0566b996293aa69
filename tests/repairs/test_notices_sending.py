"""Notices on their way: nobody waits for a dead receiver, who can't be told is asked again, and no address is shown."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import threading
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django_q.models import OrmQ

from config import health, notices
from config.house import doctor
from config.house.errors import SetupError
from repairs.models import Notice
from repairs.notices import outside, sending
from tests.repairs.receiving import Hook, silent
from workflows import rows, tasks

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Tell = Callable[..., None]


def due_again() -> None:
    """As if the pause after a failure were over."""
    Notice.objects.update(due_at=F("created_at"))


def test_a_receiver_that_never_answers_holds_up_neither_others_nor_the_engine(
    told: Tell, stuck: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "READ", 60.0)
    monkeypatch.setattr(outside, "WITHIN", 60.0)
    hook = Hook()
    with hook.open() as url, silent() as (dead, came, let_go):
        told(repairer=dead, **{"sim-desk": url})
        stuck()
        sender = threading.Thread(target=_in_a_thread, args=(sending.send,))
        sender.start()
        came.get(timeout=60)
        assert stuck().state == "open", "runs go on, and cases open, while somebody is kept waiting"
        assert sender.is_alive()
        let_go.set()
        sender.join()
    assert len(hook.told) == 1
    sent = {n.to.partition(":")[0]: (n.state, n.attempts) for n in Notice.objects.filter(attempts__gt=0)}
    assert sent == {"repairer": ("waiting", 1), "sim-desk": ("sent", 1)}


def test_a_task_ends_in_time_although_a_receiver_never_answers(hook: Hook) -> None:
    with silent() as (dead, _came, _let_go), hook.open() as url:
        slow, quick = notices.receivers(f"repairer={dead}\napprover={url}")
        said = outside.deliver({slow: ("t", "m"), quick: ("t", "m")}, within=1.0)
    assert said == {slow: "No answer came within 1 s.", quick: ""}


def test_who_can_not_be_told_is_asked_later_and_at_last_said_to_be_out_of_reach(
    stuck: Make, hook: Hook, person: Make, browse: Make
) -> None:
    hook.status = 503
    stuck()
    sending.send()
    sending.send()
    assert Notice.objects.get().attempts == 1, "it is left in peace for a while"
    for _ in range(sending.MOST_ATTEMPTS + 1):
        due_again()
        sending.send()
    failed = Notice.objects.get()
    assert (failed.state, failed.attempts) == ("failed", sending.MOST_ATTEMPTS)
    sentence = "1 notice could not be sent; manage.py notices says to whom and why."
    assert health.NOTES["notices"]() == sentence
    assert sentence in browse(person("operator", "operator")).get("/").content.decode()
    assert sentence not in browse(person("day-desk", "repairer")).get("/").content.decode()


def test_a_process_that_dies_after_sending_tells_twice_and_not_for_ever(
    stuck: Make, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck()
    monkeypatch.setattr(sending, "record", lambda *args: 1 / 0)
    for _ in range(sending.MOST_ATTEMPTS + 2):
        with contextlib.suppress(ZeroDivisionError):
            sending.send()
        due_again()
    sending.send()
    assert len(hook.told) == sending.MOST_ATTEMPTS
    assert Notice.objects.get().state == "failed"


def test_old_notices_go_and_those_of_a_receiver_that_was_taken_away_are_not_kept_waiting(
    stuck: Make, hook: Hook, told: Tell
) -> None:
    stuck()
    told(approver="json://127.0.0.1:1/b")
    sending.send()
    assert Notice.objects.get().state == "moot"
    Notice.objects.update(created_at=rows.now() - sending.KEPT - dt.timedelta(seconds=1))
    sending.sweep()
    assert not Notice.objects.exists()


def test_the_sweep_of_each_minute_sees_to_notices(stuck: Make, hook: Hook) -> None:
    stuck()
    tasks.sweep()
    assert [q.func() for q in OrmQ.objects.all()].count(sending.TASK) == 1


def test_an_address_is_never_shown(
    told: Tell, stuck: Make, hook: Hook, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    hook.status = 503
    stuck()
    caplog.set_level(logging.DEBUG)
    sending.send()
    out = StringIO()
    with contextlib.suppress(SystemExit):
        call_command("notices", "--test", stdout=out)
    text = out.getvalue()
    assert "repairer by json: 1 waiting, 0 sent" in text
    shown = [
        *capsys.readouterr(),
        caplog.text,
        text,
        repr(notices.receivers("a=json://u:hook-secret@h")),
        doctor._notices().problem,
    ]
    shown += [str(row) for row in Notice.objects.values_list()]
    with pytest.raises(SetupError) as refused:
        notices.receivers("json://user:hook-secret@host")
    assert "hook-secret" not in "".join([*shown, str(refused.value)])
    assert "hidden-path" not in "".join(shown)


def test_the_command_tells_each_receiver_something_and_what_came_of_it(told: Tell, hook: Hook) -> None:
    with hook.open() as url:
        told(repairer=url, nobody="json://127.0.0.1:1/x", operator="nonsense://x")
        out = StringIO()
        with pytest.raises(SystemExit):
            call_command("notices", "--test", stdout=out)
    assert [m["title"] for m in hook.told] == ["Makegood: a test"]
    assert "repairer by json: 0 waiting, 0 sent; test: sent" in out.getvalue()
    assert "there is no role and no team 'nobody'; test: json could not be reached, or refused." in out.getvalue()
    assert "is none that the library apprise understands" in out.getvalue()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("a=json://h/x", ["a"]),
        ("a=json://h/x, night desk = mailto://u:p@h?to=b@h,c@h\n,b=slack://A/B/C,", ["a", "night desk", "b"]),
        ("a=json://h/x,a=json://h/x", ["a"]),
    ],
)
def test_pairs_are_read_from_lines_or_commas(text: str, names: list[str]) -> None:
    found = notices.receivers(text)
    assert [receiver.name for receiver in found] == names
    assert not [r for r in found if r.url.endswith(",")]


@pytest.mark.parametrize("text", ["makegood.example.org", "ftp://h", "https://u:p@h", "https://h/?a=b", "https://h x"])
def test_an_address_of_the_console_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="MAKEGOOD_URL"):
        notices.base(text)


def _in_a_thread(work: Callable[[], None]) -> None:
    try:
        work()
    finally:
        connection.close()
