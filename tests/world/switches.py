"""What the lying provider shall do with the next matching requests; provider.py and its HTTP door fill the board."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

BOOKS = ("before", "after", "never", "late")
ANSWERS = (
    "normal",
    "cut",  # RST
    "close",  # FIN without one byte
    "silence",  # read, never answered
    "html200",
    "wrong_type",  # the right JSON under another content type
    "error200",  # 200 with the error inside
    "503",
    "500",
    "429",
    "422",
    "404",
    "409",
    "raw",  # `text` under `status` and `content_type`, whatever was done
    "207",  # several statuses in one body, under one that says nothing
    "202",  # pending, with a poll address
    "redirect",
    "gzip_bomb",
    "short",  # a Content-Length longer than the body, which is whole JSON
    "cut_chunked",  # whole JSON, but no last chunk
    "huge",
    "drip",
)
KEYS = (
    "honoured",
    "ignored",
    "conflict",  # 409 while the first with this key is worked on
    "success",  # only a yes is kept: after a 500 the same key acts again
    "executed",  # a failure is kept and said again, marked as a replay
    "old",  # another body under a known key is answered with the old object
    "strict",  # the raw bytes are compared, so the same content with another boundary is refused
)
READS = (
    "exact",
    "lagging",
    "missing",
    "unavailable",
    "html",
    "paged",  # lists come in pages of `size` (2), with the address of the next
    "forbidden",  # the permission to read is lost: 403
    "soft_deleted",  # what was deleted is shown with `deleted: true`
)
NULLS = ("kept", "deletes", "ignored")  # what a null in a change does
UNDOS = (
    "works",
    "refused",
    "lies",  # yes, and it stands
    "gone",  # somebody else was quicker: 404
    "error",
    "partial",  # yes, and a part of it stays: `kept` in the answer and in the object
    "closed",  # the window in which it could be undone is over: 409 with a code
    "wrong",  # yes, and another object of the collection is gone instead
    "reverses",  # yes and gone, and there again `late` seconds later
    "blank",  # yes also where nothing is there
)

# These say that nothing was done, so nothing is booked unless `book` says otherwise: that is the lie to ask for.
REFUSING = frozenset({"error200", "503", "500", "429", "422", "404", "409", "redirect"})
FAILURES = frozenset({"503", "500"})
CONDITIONS = ("method", "path", "containing", "times")


@dataclasses.dataclass(slots=True, kw_only=True)
class Switch:
    """One behaviour for the next `times` requests that match (None: until cleared). Seconds throughout."""

    method: str = ""  # "" matches any
    path: str = ""  # a prefix
    containing: str = ""  # a text in the target or the body, say a customer
    times: int | None = 1
    book: str = ""  # when the write is done: before or after the answer, never, or `late` seconds after the request
    late: float = 0.0
    answer: str = ""
    status: int = 0  # of a redirect; 0: 302. Of raw; 0: 200
    text: str = ""  # of raw
    content_type: str = ""  # of raw; "": JSON
    location: str = ""  # of a redirect
    retry_after: str = ""  # header text, as it is
    delay: float = 0.0  # before the answer
    polls: int = 0  # of 202: so many polls say "running" first
    fails: bool = False  # of 202: the work fails in the end and books nothing
    size: int = 0  # bytes of huge and gzip_bomb; 0: their default
    keys: str = ""
    retention: float = 0.0  # keys older than this are forgotten; 0: never
    read: str = ""
    lag: float = 0.0  # of lagging: so old is what reads see; 0: they see each object as before its last change
    undo: str = ""
    nulls: str = ""  # "": kept
    foreign: bool = False  # somebody else's object appears under the same reference first
    items: str = ""  # of a bulk request: what becomes of each, in their order, as "201 503 400 201 -"; "-": left out
    unique: str = ""  # a field: a second object with the same value is refused 409, its id only in the text
    together: int = 0  # answer only when so many matching requests are inside

    def __post_init__(self) -> None:
        for name, allowed in (
            ("book", BOOKS),
            ("answer", ANSWERS),
            ("keys", KEYS),
            ("read", READS),
            ("undo", UNDOS),
            ("nulls", NULLS),
        ):
            value = getattr(self, name)
            if value and value not in allowed:
                raise ValueError(f"{name}: {value!r} is none of {', '.join(allowed)}")

    def matches(self, method: str, target: str, body: bytes) -> bool:
        return (
            self.method in ("", method)
            and target.startswith(self.path)
            and self.containing.encode() in target.encode() + b"\n" + body
        )

    def set_fields(self) -> dict[str, Any]:
        fields = {f.name: f.default for f in dataclasses.fields(self) if f.name not in CONDITIONS}
        return {name: getattr(self, name) for name, default in fields.items() if getattr(self, name) != default}


class Board:
    """The switches in force. One with a number outranks a standing one; among equals the first set goes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._switches: list[Switch] = []

    def add(self, switch: Switch) -> None:
        with self._lock:
            self._switches.append(switch)

    def clear(self) -> None:
        with self._lock:
            self._switches.clear()

    def plan(self, method: str, target: str, body: bytes) -> Switch:
        """What holds for this request. A switch whose fields an earlier one has set already isn't used up."""
        chosen: dict[str, Any] = {}
        with self._lock:
            for switch in sorted(self._switches, key=lambda s: s.times is None):
                fields = switch.set_fields()
                if not switch.matches(method, target, body) or chosen.keys() & fields.keys():
                    continue
                chosen |= fields
                if switch.times is not None:
                    switch.times -= 1
            self._switches = [s for s in self._switches if s.times != 0]
        plan = Switch(**chosen)
        if plan.read == "unavailable":
            plan.answer = plan.answer or "503"
        if plan.read == "html":
            plan.answer = plan.answer or "html200"
        plan.book = plan.book or ("never" if plan.answer in REFUSING else "before")
        return plan
