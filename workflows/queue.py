"""Rings for work. With `tasks` the only file that knows django-q2; a message is a doorbell: lost or doubled, nothing
changes."""

from __future__ import annotations

from typing import Any

import structlog
from django.db import DatabaseError, connection
from django.dispatch import receiver
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from django_q.signals import post_spawn
from django_q.tasks import async_task

from workflows import bells

log = structlog.get_logger(__name__)

DRAIN, SWEEP = "workflows.tasks.drain", "workflows.tasks.sweep"
BEATS_WITHIN = 20.0  # seconds without a beat after which the queue counts as deaf; drains beat every 5
MANY_WAITING = 8  # messages that nobody has taken yet; another bell would only be noise


def ring() -> None:
    """Asks for a drain where none lives. Work that is written while one lives wakes it by NOTIFY.

    Messages that a dead cluster took stay locked for minutes, and ring for nobody: they don't count.
    """
    if bells.drains_alive() == 0 and _few_wait():
        succeed()


def later(task: str) -> None:
    """Asks for one run of another task, by its dotted path, in a worker of its own beside the drain."""
    if _few_wait():
        async_task(task)


def _few_wait() -> bool:
    return bool(OrmQ.objects.filter(lock__lte=timezone.now()).count() < MANY_WAITING)


def succeed() -> None:
    """Asks for the next drain."""
    async_task(DRAIN)


@receiver(post_spawn, dispatch_uid="workflows.queue.ring_at_birth")
def ring_at_birth(**_: Any) -> None:
    """A worker begins: with its cluster, or in the place of one that died, perhaps with the only drain."""
    try:
        ring()
    except DatabaseError:
        log.warning("no bell could be rung; the sweep will", exc_info=True)


def keep_sweeping() -> None:
    """The schedule that sweeps each minute, made once."""
    Schedule.objects.get_or_create(
        name="sweep", defaults={"func": SWEEP, "schedule_type": Schedule.MINUTES, "minutes": 1}
    )


def deaf() -> str:
    """ "" while a drain has shown a sign of life lately; else what is wrong, for /health/ready."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp() - max(at)) FROM workflows_beat")
        age = cursor.fetchone()[0]
    if age is None:
        return "No drain has shown a sign of life yet; is qcluster running?"
    if float(age) > BEATS_WITHIN:
        return f"The last sign of life of a drain is {float(age):.0f} s old; qcluster is dead or deaf."
    return ""
