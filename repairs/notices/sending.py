"""Sends what waits: claim, commit, send, record. Run by the queue, for which the sweep rings; and what the sweep does.

A message is one attempt for all that waits for its receiver, so what came up since the last sweep is joined. The
attempt is counted before it is made: a process that dies between sending and recording tells twice, and never for ever.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from config.notices import Receiver
from repairs.models import Case
from repairs.models.notice import Notice, NoticeState
from repairs.notices import outside
from repairs.notices.nearing import near
from repairs.notices.saying import message
from repairs.notices.standing import still_true
from workflows import queue, rows

TASK = "repairs.notices.sending.send"
MOST_ATTEMPTS = 6
FIRST_PAUSE = 60.0  # seconds, doubled each time: after about half an hour nobody is asked any more
MOST_JOINED = 500  # in one message; the next sweep takes the next ones
KEPT = dt.timedelta(days=30)  # longer than anything here is told again for
SHOWN = dt.timedelta(days=1)  # how long a failure is told on home and by doctor

log = structlog.get_logger(__name__)


def sweep() -> None:
    """What is nearly over is told, what is old goes, and a task is asked for where something waits."""
    now = rows.now()
    near(now)
    Notice.objects.filter(created_at__lt=now - KEPT).delete()
    if settings.NOTICES and waiting().filter(due_at__lte=now).exists():
        queue.later(TASK)


def send() -> None:
    """One message to each receiver for whom something is due."""
    claimed = claim()
    if not claimed:
        return
    said = outside.deliver({receiver: said_of(notices) for receiver, notices in claimed.items()})
    for receiver, problem in said.items():
        record(receiver, claimed[receiver], problem)


def claim() -> dict[Receiver, list[Notice]]:
    """What is told now, with its attempt counted, in a transaction of its own."""
    with transaction.atomic():
        now = rows.now()
        gone = waiting().exclude(to__in=[receiver.key for receiver in settings.NOTICES])
        gone.update(state=NoticeState.MOOT.value, why="This receiver isn't configured any more.")
        spent = waiting().filter(attempts__gte=MOST_ATTEMPTS, due_at__lte=now)
        spent.update(state=NoticeState.FAILED.value, why="The last attempt was broken off.")
        found = {receiver: due_to(receiver, now) for receiver in settings.NOTICES}
        return {receiver: notices for receiver, notices in found.items() if notices}


def due_to(receiver: Receiver, now: dt.datetime) -> list[Notice]:
    """All that waits for a receiver, or nothing while it is left in peace after a failure."""
    mine = waiting().filter(to=receiver.key)
    if mine.filter(attempts__gt=0, due_at__gt=now).exists():
        return []
    locked = list(mine.order_by("id").select_for_update(skip_locked=True)[:MOST_JOINED])
    live = still_true(locked)
    over = [notice.id for notice in locked if notice.id not in live]
    close(over, NoticeState.MOOT, "It was over before it was told.")
    notices = [notice for notice in locked if notice.id in live]
    for notice in notices:
        notice.attempts += 1
    if notices:
        pause = dt.timedelta(seconds=FIRST_PAUSE * 2 ** (max(notice.attempts for notice in notices) - 1))
        for notice in notices:
            notice.due_at = now + pause
        Notice.objects.bulk_update(notices, ["attempts", "due_at"])
    return notices


def said_of(notices: Sequence[Notice]) -> tuple[str, str]:
    numbers = dict(Case.objects.filter(id__in={n.subject for n in notices}).values_list("id", "number"))
    return message(notices, numbers, settings.MAKEGOOD_URL)


def record(receiver: Receiver, notices: Sequence[Notice], problem: str) -> None:
    ids = [notice.id for notice in notices]
    if not problem:
        close(ids, NoticeState.SENT)
        return
    log.warning("notice not sent", to=str(receiver), notices=len(ids), why=problem)
    waiting().filter(id__in=ids).update(why=problem)
    close([notice.id for notice in notices if notice.attempts >= MOST_ATTEMPTS], NoticeState.FAILED, problem)


def close(ids: Collection[UUID], state: NoticeState, why: str = "") -> None:
    if ids:
        sent_at = rows.now() if state == NoticeState.SENT else None
        waiting().filter(id__in=ids).update(state=state.value, why=why[:200], sent_at=sent_at)


def waiting() -> QuerySet[Notice]:
    return Notice.objects.filter(state=NoticeState.WAITING.value)


def failures() -> str:
    """How many could lately not be sent, in a sentence, for home, health and doctor; "" where none."""
    count = Notice.objects.filter(state=NoticeState.FAILED.value, created_at__gt=Now() - SHOWN).count()
    if not count:
        return ""
    return f"{count} notice{'' if count == 1 else 's'} could not be sent; manage.py notices says to whom and why."
