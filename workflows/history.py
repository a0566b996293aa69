"""Keeps history: its partitions ahead of time, and hourly checkpoints over it. Called by the sweep."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid

from django.db import connection, transaction

from workflows import rows
from workflows.models import Checkpoint, Entry

MONTHS_AHEAD = 3
CHECKPOINT_EVERY = dt.timedelta(hours=1)
STILL_OPEN = dt.timedelta(minutes=5)  # longer than any transaction: no entry older than this can still appear
NIL = uuid.UUID(int=0)


def keep() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT makegood_partitions(%s)", [MONTHS_AHEAD])
    checkpoint()


def checkpoint() -> Checkpoint | None:
    """Hashes the entries since the last checkpoint, if that is an hour old; the new checkpoint, or None."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE workflows_checkpoint IN SHARE ROW EXCLUSIVE MODE")
        now = rows.now()
        last = Checkpoint.objects.order_by("-id").first()
        if last is not None and now - last.at < CHECKPOINT_EVERY:
            return None
        upto = floor_of(now - STILL_OPEN)
        count, digest = over(last.upto if last else NIL, upto)
        prev = last.hash if last else ""
        return Checkpoint.objects.create(at=now, upto=upto, entries=count, prev=prev, hash=chained(prev, digest))


def floor_of(moment: dt.datetime) -> uuid.UUID:
    """The smallest UUIDv7 of a moment."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


def over(after: uuid.UUID, upto: uuid.UUID) -> tuple[int, str]:
    """(number, sha256 over the hashes) of entries with after <= id < upto, in order of id."""
    digest, count = hashlib.sha256(), 0
    for text in (
        Entry.objects.filter(id__gte=after, id__lt=upto).order_by("id").values_list("hash", flat=True).iterator()
    ):
        digest.update(text.encode())
        count += 1
    return count, digest.hexdigest()


def chained(prev: str, digest: str) -> str:
    return hashlib.sha256(f"{prev}:{digest}".encode()).hexdigest()
