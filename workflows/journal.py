"""The append-only, hash-chained history: makes entries for the ledger, and proves a chain whole for whoever asks.

Each subject (effect, run, case) has its own chain; its head and length lie on the subject's row, which the move locks
anyway. So an entry that is changed, swapped, left out or cut off at the end is found.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import hashlib
import json
import secrets
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from workflows import rows
from workflows.models import Entry, Payload
from workflows.models.fields import new_id_text


@dataclasses.dataclass(slots=True, kw_only=True)
class Event:
    """What is to be written of one subject's move. `subject` has `id`, `seq` and `head`; both are moved on."""

    subject: Any
    kind: str  # effect | run | case
    run_id: uuid.UUID | None
    event: str
    before: str = ""
    after: str = ""
    world: str = ""
    fence: int = 0
    actor: str = "engine"
    payload: dict[str, Any] | None = None


HASHED = (
    "id", "subject_kind", "subject_id", "run_id", "seq", "event", "before", "after",
    "world", "fence", "actor", "at", "payload_digest", "prev",
)  # fmt: skip


def chain(events: Sequence[Event], *, at: dt.datetime) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Makes the entries in memory and moves each subject's `seq` and `head` on; `write` inserts them."""
    moment = _text(at)
    return [_entry(event, moment) for event in events]


def write(made: Iterable[tuple[dict[str, Any], dict[str, Any] | None]]) -> None:
    pairs = list(made)
    rows.insert(Entry, [entry for entry, _ in pairs])
    rows.insert(Payload, [payload for _, payload in pairs if payload])


def _entry(event: Event, moment: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    subject = event.subject
    entry: dict[str, Any] = {
        "id": new_id_text(),
        "subject_kind": event.kind,
        "subject_id": str(subject.id),
        "run_id": event.run_id and str(event.run_id),
        "seq": subject.seq + 1,
        "event": event.event,
        "before": event.before,
        "after": event.after,
        "world": event.world,
        "fence": event.fence,
        "actor": event.actor,
        "at": moment,
        "payload_digest": "",
        "prev": subject.head,
    }
    payload = None
    if event.payload:
        payload = {"entry_id": entry["id"], "salt": secrets.token_hex(16), "data": event.payload}
        entry["payload_digest"] = payload_digest(payload["salt"], event.payload)
    entry["hash"] = hashlib.sha256(_plainly(entry).encode()).hexdigest()
    subject.seq, subject.head = entry["seq"], entry["hash"]
    return entry, payload


_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode


def _plainly(entry: dict[str, Any]) -> str:
    """The text that `entry_hash` hashes, of an entry made here: all of it but the actor are words, numbers and ids."""
    values = [entry[name] for name in HASHED]
    values[RUN_ID], values[ACTOR] = _quoted(values[RUN_ID]), _quoted(values[ACTOR])
    return PLAIN % tuple(values)


RUN_ID, ACTOR = HASHED.index("run_id"), HASHED.index("actor")
PLAIN = '["%s","%s","%s",%s,%d,"%s","%s","%s","%s",%d,%s,"%s","%s","%s"]'


@functools.lru_cache(maxsize=256)
def _quoted(text: str | None) -> str:
    return _canonical(text)


def entry_hash(entry: dict[str, Any]) -> str:
    """sha256 over the entry's fields in a fixed order; times in UTC to the microsecond."""
    return hash_of([_text(entry[name]) for name in HASHED])


def hash_of(parts: list[Any]) -> str:
    return hashlib.sha256(_canonical(parts).encode()).hexdigest()


def _text(part: Any) -> Any:
    if isinstance(part, dt.datetime):
        return part.astimezone(dt.UTC).isoformat(timespec="microseconds")
    return str(part) if isinstance(part, uuid.UUID) else part


def payload_digest(salt: str, data: dict[str, Any]) -> str:
    """sha256 over salt and canonical JSON, so that an erased payload can't be guessed back from its digest."""
    text = _canonical(json.loads(rows.encode(data)))
    return hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()
