"""Proves history whole: every chain, every payload, every head, every checkpoint. Asked by `verify_journal`.

Reads all of it in one snapshot through server-side cursors: memory stays the same however long history is.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.apps import apps
from django.db import connection, transaction

from workflows import history
from workflows.journal import HASHED, entry_hash, payload_digest
from workflows.models import Checkpoint

AT_ONCE = 2000  # rows fetched in one go
TELL_EVERY = 100_000  # entries between two signs of progress


@dataclasses.dataclass(frozen=True, slots=True)
class Flaw:
    """One thing wrong: with which subject, at which entry of its chain (0: with the whole), and what."""

    kind: str  # effect | run | case | checkpoint
    subject: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} #{self.seq}: {self.what}"


@dataclasses.dataclass(slots=True)
class Summary:
    """How much was read. `erased` counts entries whose words are erased, which is allowed."""

    subjects: int = 0
    entries: int = 0
    erased: int = 0
    checkpoints: int = 0
    flaws: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Head:
    """What a subject's own row says of its chain."""

    kind: str
    subject: uuid.UUID
    seq: int
    hash: str


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """One entry as it stands in the database, with its words if they are there."""

    entry: dict[str, Any]
    salt: str | None
    data: str | None


def verify(told: Callable[[Flaw], None], progress: Callable[[int], None] = lambda _: None) -> Summary:
    """Reads everything and tells each flaw as it is found."""
    summary = Summary()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        for flaw in itertools.chain(_chains(summary, progress), _checkpoints(summary)):
            summary.flaws += 1
            told(flaw)
    return summary


def chain(head: Head | None, subject: uuid.UUID, written: Iterable[Written], summary: Summary) -> Iterator[Flaw]:
    """The flaws of one subject's chain; `written` in the order of seq. Reads it to its end."""
    seq, last, kind = 0, "", head.kind if head else ""
    for one in written:
        entry, expected = one.entry, seq + 1
        kind = kind or entry["subject_kind"]
        summary.entries += 1
        for what in _entry(one, expected, last, kind, summary):
            yield Flaw(kind, str(subject), entry["seq"], what)
        if entry["seq"] > expected:
            yield Flaw(kind, str(subject), expected, f"the entries from here to #{entry['seq'] - 1} are missing")
        seq, last = entry["seq"], entry["hash"]
    if what := _end(head, seq, last):
        yield Flaw(kind, str(subject), seq, what)


def _entry(one: Written, expected: int, last: str, kind: str, summary: Summary) -> Iterator[str]:
    entry = one.entry
    if entry["seq"] < expected:
        yield "there is another entry of this number"
    if entry["subject_kind"] != kind:
        yield f"it speaks of a {entry['subject_kind']}"
    if entry_hash(entry) != entry["hash"]:
        yield "the entry was changed: its hash does not fit what it says"
    elif entry["seq"] == expected and entry["prev"] != last:
        yield "it does not follow the entry before it"
    if one.data is None:
        summary.erased += bool(entry["payload_digest"])
    elif not entry["payload_digest"]:
        yield "words were added to it: it was written without any"
    elif payload_digest(one.salt or "", json.loads(one.data)) != entry["payload_digest"]:
        yield "its words were changed: they do not fit the digest in the entry"


def _end(head: Head | None, seq: int, last: str) -> str:
    if head is None:
        return "its row is gone; only its entries are left"
    if not seq:
        return "it has a row, but no entry tells of it"
    if head.seq > seq:
        return f"the last entries are missing: its row counts {head.seq}"
    if head.seq < seq:
        return f"its row counts only {head.seq} entries"
    return "" if head.hash == last else "its row's head is not the hash of the last entry"


def _chains(summary: Summary, progress: Callable[[int], None]) -> Iterator[Flaw]:
    """Walks rows and entries side by side, both in the order of the subject's id."""
    heads = all_heads()
    head = next(heads, None)
    for subject, written in itertools.groupby(_counted(all_written(), progress), key=_subject):
        while head is not None and head.subject < subject:
            yield from chain(head, head.subject, [], summary)
            head = next(heads, None)
        summary.subjects += 1
        own = head is not None and head.subject == subject
        yield from chain(head if own else None, subject, written, summary)
        head = next(heads, None) if own else head
    while head is not None:
        yield from chain(head, head.subject, [], summary)
        head = next(heads, None)


def _subject(one: Written) -> uuid.UUID:
    subject: uuid.UUID = one.entry["subject_id"]
    return subject


def _counted(written: Iterator[Written], progress: Callable[[int], None]) -> Iterator[Written]:
    for number, one in enumerate(written, 1):
        yield one
        if number % TELL_EVERY == 0:
            progress(number)


def all_heads() -> Iterator[Head]:
    """Each model that keeps `seq` and `head` is a subject of history, under the name of its model."""
    models = [m for m in apps.get_models() if {"seq", "head"} <= {field.name for field in m._meta.fields}]
    each = [f"SELECT '{m._meta.model_name}', id, seq, head FROM {m._meta.db_table}" for m in models]  # noqa: S608  names of models
    return (Head(*row) for row in _stream(" UNION ALL ".join(each) + " ORDER BY 2"))


def all_written(run_id: uuid.UUID | None = None) -> Iterator[Written]:
    """Entries with their words by subject and seq: of everything, or of one run."""
    where = "" if run_id is None else "WHERE e.run_id = %s "
    columns = ", ".join(f"e.{name}" for name in (*HASHED, "hash"))
    sql = (
        f"SELECT {columns}, p.salt, p.data FROM workflows_entry e "  # noqa: S608  names of our own columns
        f"LEFT JOIN workflows_payload p ON p.entry_id = e.id {where}ORDER BY e.subject_id, e.seq, e.id"
    )
    for *values, salt, data in _stream(sql, [] if run_id is None else [run_id]):
        yield Written(dict(zip((*HASHED, "hash"), values, strict=True)), salt, data)


def _stream(sql: str, parameters: list[Any] | None = None) -> Iterator[tuple[Any, ...]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters or [])
        while rows := cursor.fetchmany(AT_ONCE):
            yield from rows


def _checkpoints(summary: Summary) -> Iterator[Flaw]:
    """Each is chained to the one before, and is the digest over the entries between both."""
    last: Checkpoint | None = None
    for number, checkpoint in enumerate(Checkpoint.objects.order_by("id").iterator(AT_ONCE), 1):
        summary.checkpoints += 1
        for what in _checkpoint(checkpoint, last):
            yield Flaw("checkpoint", str(checkpoint.id), number, what)
        last = checkpoint


def _checkpoint(checkpoint: Checkpoint, last: Checkpoint | None) -> Iterator[str]:
    count, digest = history.over(last.upto if last else history.NIL, checkpoint.upto)
    if checkpoint.prev != (last.hash if last else ""):
        yield "it does not follow the checkpoint before it"
    if count != checkpoint.entries:
        yield f"it counted {checkpoint.entries} entries, and now there are {count}"
    elif checkpoint.hash != history.chained(checkpoint.prev, digest):
        yield "it does not fit the entries that it was made over"
