"""What one send or look is told: plain values that a thread may hold without touching the database."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from workflows.tools.tokens import Token


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request for one operation of one effect. JSON values only; built by the engine, read by the tools."""

    operation: str  # "execute" | "compensate"
    key: str  # our idempotency key, the same over every attempt
    arguments: dict[str, Any]
    run: dict[str, Any]  # {id, external_id, workflow}
    subject: dict[str, Any]  # {type, id, label}
    input: dict[str, Any]
    steps: dict[str, dict[str, Any]]  # {"crm": {"result": {...}}}
    result: dict[str, Any]  # compensate: the forward effect's result; else the own result so far ({} before)
    before: dict[str, Any]  # compensate: the image kept before the forward call
    forward_key: str  # compensate: the forward effect's key; else ""
    agreed: int | None = None  # compensate: what a person agreed to undo, where less than the whole is left
    contested: bool = False  # compensate: it was refused because what it undoes has another version by now
    base: Any = None  # execute: the version of the image kept before it
    attempt: int = 1
    now: str = ""  # ISO 8601, UTC
    sent_at: str = ""  # when the first send was dispatched, else now
    tokens: Mapping[str, Token] = dataclasses.field(default_factory=dict, repr=False)  # by credential, as of now
