"""What django-q2 runs: the drain, which does the work, and the sweep, for what no bell rang for."""

from __future__ import annotations

import time

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from config.house import stopping
from workflows import bells, garbage, history, queue
from workflows.authority import credentials, old_reservations, static_secrets, stops
from workflows.drain import Drain, next_due
from workflows.engine import restored
from workflows.engine.overdue import overdue
from workflows.engine.recover import recover
from workflows.signals import swept

CLAIM_FOR = 40.0  # seconds; the longest call (60) and its record then end within the task's 120
BEAT_EVERY = 5.0  # seconds
PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds between tries to ring through an outage of the database

log = structlog.get_logger(__name__)


def drain() -> None:
    """Claims, calls, looks and advances for a while, wakes at bells, and rings its successor before it ends."""
    garbage.calm()
    work = Drain()
    listener = bells.Listener(lambda: work.bell.put("work"), slots=settings.Q_CLUSTER["workers"])
    if listener.slot is None:
        listener.close()
        work.close()
        return
    try:
        if restored.check():
            log.error("the database is another one than before; everything but looks is frozen")
        recover(dead_holders=True)
        _work(work, listener.slot)
    finally:
        listener.close()
        if not stopping.asked():
            _ring_successor()
        work.close()


def _ring_successor() -> None:
    """A drain that ends because its connection did must not leave the work to the next sweep."""
    for pause in PAUSES:
        time.sleep(pause)
        try:
            queue.succeed()
            return
        except DatabaseError:
            connection.close()
    log.warning("no successor could be rung; the sweep will")


def _work(work: Drain, slot: int) -> None:
    end, beat = time.monotonic() + CLAIM_FOR, 0.0
    while (now := time.monotonic()) < end and not stopping.asked():
        if now - beat > BEAT_EVERY:
            _beat(slot)
            beat = now
        if work.turn():
            continue
        work.rest(next_due())


def _beat(slot: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO workflows_beat (slot, at) VALUES (%s, clock_timestamp())"
            " ON CONFLICT (slot) DO UPDATE SET at = excluded.at",
            [str(bells.slot_key(slot))],
        )


def sweep() -> None:
    """Once a minute: lost leases, ended stops, secrets, runs that stand still, partitions, reservations that
    nobody reads any more, a drain where none lives, and last what people are to be told."""
    lost = recover(dead_holders=True)
    if lost:
        log.warning("leases lost", effects=len(lost))
    for stop in stops.end_over():
        log.info("stop ended", on=stop.on)
    credentials.wake()
    static_secrets.wake()
    if late := overdue():
        log.warning("runs stand still", runs=len(late))
    history.keep()
    old_reservations.forget()
    queue.ring()
    swept.send(None)
