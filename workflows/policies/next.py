"""What a policy answers: the move to make, its fields, and what is known besides. Pure; the engine's verbs apply it."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any, Protocol

NOTE = "note"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """`move`: a name of the table of moves, or "note" where only knowledge changes. `knows`: fields to set;
    "due" in it is when somebody moves next (`due_at`), which moves clear."""

    move: str
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    knows: dict[str, Any] = dataclasses.field(default_factory=dict)


class Facts(Protocol):
    """What the policies read of an effect."""

    key: str
    kind: str
    state: str
    world: str
    attempts: int
    backoffs: int
    misses: int
    doubt: bool
    lost_lease: bool
    unanswered: int
    unseen: int
    reason: str
    detail: str
    verifiable: bool
    result: Any  # None until the provider said yes, or a look found it
    first_sent_at: dt.datetime | None
    verified_at: dt.datetime | None
    believe_miss_from: dt.datetime | None
    late_until: dt.datetime | None
    looks_until: dt.datetime | None

    @property
    def forward(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...


def concerns_run(effect: Any) -> bool:
    """Whether its run could find anything new after this move: not while it is under way, or only better known."""
    under_way = effect.state == "pending" or (effect.state == "acknowledged" and effect.verifiable)
    return effect.event != NOTE and not under_way


def apply(effect: Any, step: Next) -> None:
    """Carries a decision out on an instance, in memory."""
    knows = dict(step.knows)
    due = knows.pop("due", None)
    for name, value in knows.items():
        setattr(effect, name, value)
    getattr(effect, step.move)(**step.fields)
    if due is not None:
        effect.due_at = due
