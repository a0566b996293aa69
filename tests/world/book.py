"""The lying provider's own truth: its objects with every version, the keys it remembers, each request as it came."""

from __future__ import annotations

import dataclasses
import datetime
import threading
import time
from typing import Any

Json = Any


@dataclasses.dataclass(slots=True, kw_only=True)
class Object:
    """One outside object. `versions`: (monotonic time, body), oldest first; a body of None means deleted."""

    id: str
    collection: str
    key: str
    reference: str
    attempt: int  # which request under this key or reference made it, from 1
    foreign: bool = False
    booked_at: str = ""
    versions: list[tuple[float, dict[str, Json] | None]] = dataclasses.field(default_factory=list)

    @property
    def body(self) -> dict[str, Json] | None:
        return self.versions[-1][1] if self.versions else None

    @property
    def etag(self) -> str:
        return f'"{len(self.versions)}"'

    def tag(self, seen: dict[str, Json] | None) -> str:
        """The etag of the version that a read showed."""
        return next((f'"{n}"' for n, (_, body) in enumerate(self.versions, 1) if body is seen), self.etag)

    def seen(self, read: str, lag: float) -> dict[str, Json] | None:
        """The body that a read in this mode shows."""
        if read == "missing":
            return None
        if read == "soft_deleted" and self.body is None:
            last = next((body for _, body in reversed(self.versions) if body is not None), None)
            return None if last is None else {**last, "deleted": True}
        if read != "lagging":
            return self.body
        if not lag:
            return self.versions[-2][1] if len(self.versions) > 1 else None
        then = time.monotonic() - lag
        old = [body for at, body in self.versions if at <= then]
        return old[-1] if old else None


@dataclasses.dataclass(slots=True, kw_only=True)
class Wire:
    """One request as it arrived, and what went back."""

    number: int
    method: str
    target: str
    headers: dict[str, str]
    body: Json
    key: str
    at: str
    answered: str = ""
    raw: bytes = dataclasses.field(default=b"", repr=False)


WIRE = ("number", "method", "target", "headers", "body", "key", "at", "answered")  # what the oracle tells of it


@dataclasses.dataclass(slots=True)
class Remembered:
    """What the provider keeps under a key: the request's body, and the answer once there is one."""

    body: Json
    raw: bytes = b""
    at: float = dataclasses.field(default_factory=time.monotonic)
    reply: Any = None
    done: threading.Event = dataclasses.field(default_factory=threading.Event)


class Book:
    """All of it, under one lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.objects: dict[str, Object] = {}
        self.wire: list[Wire] = []
        self.keys: dict[tuple[str, str], Remembered] = {}
        self._count = 0

    def record(self, method: str, target: str, headers: dict[str, str], body: Json, raw: bytes = b"") -> Wire:
        with self.lock:
            number = len(self.wire) + 1
            key = headers.get("idempotency-key", "")
            wire = Wire(
                number=number, method=method, target=target, headers=headers, body=body, key=key, at=now(), raw=raw
            )
            self.wire.append(wire)
            return wire

    def draft(self, collection: str, key: str, body: dict[str, Json], *, foreign: bool = False) -> Object:
        """An object with its id, not yet in the world: an answer may name it before it is booked."""
        with self.lock:
            self._count += 1
            reference = str(body.get("reference", ""))
            return Object(
                id=f"{collection[:3]}-{self._count}",
                collection=collection,
                key="" if foreign else key,
                reference=reference,
                attempt=self._attempt(collection, key, reference),
                foreign=foreign,
            )

    def write(self, thing: Object, body: dict[str, Json] | None) -> None:
        """Books, changes or (with None) deletes."""
        with self.lock:
            self.objects[thing.id] = thing
            thing.booked_at = thing.booked_at or now()
            thing.versions.append((time.monotonic(), body))

    def find(self, collection: str, wanted: dict[str, str], read: str = "", lag: float = 0.0) -> list[dict[str, Json]]:
        """What a search shows: each with its id."""
        with self.lock:
            shown = [(o, o.seen(read, lag)) for o in self.objects.values() if o.collection == collection]
            return [
                {**body, "id": thing.id}
                for thing, body in shown
                if body is not None and all(str(body.get(field)) == value for field, value in wanted.items())
            ]

    def oracle(self) -> dict[str, Json]:
        with self.lock:
            things = [
                {f: getattr(o, f) for f in ("id", "collection", "key", "reference", "attempt", "foreign", "booked_at")}
                | {"body": next((b for _, b in reversed(o.versions) if b is not None), None)}
                | {"deleted": o.body is None, "changes": len(o.versions)}
                for o in self.objects.values()
            ]
            return {
                "objects": [t for t in things if not t["deleted"]],
                "deleted": [t for t in things if t["deleted"]],
                "wire": [{f: getattr(w, f) for f in WIRE} for w in self.wire],
            }

    def _attempt(self, collection: str, key: str, reference: str) -> int:
        def same(wire: Wire) -> bool:
            if wire.method != "POST" or wire.target.strip("/") != collection:
                return False
            named = wire.body.get("reference") if isinstance(wire.body, dict) else None
            return wire.key == key if key else named == reference

        return max(1, sum(same(w) for w in self.wire))


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat()
