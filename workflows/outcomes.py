"""What a tool answers: the value of one send, and the value of one look. Everything above reads only these.

Times are seconds. `result` and `evidence` are JSON values (evidence is bounded by whoever makes it).
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

Json = Any
JsonObject = Mapping[str, Any]

OF_THE_IMAGE = "@version"  # where an image keeps its version; no name of a field, and no tool is told it as one
CHANGED = "changed"  # why an undoing was refused that named a version: the thing has another one by now


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """The provider said yes. Nothing is verified by that."""

    result: JsonObject
    evidence: JsonObject = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The provider accepted work that goes on; `poll` is where to ask, in the tool's own form."""

    poll: JsonObject
    evidence: JsonObject = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Rejected:
    """A provider did not accept who asked: a credential's token, or static secrets, of which there is no newer one
    until somebody sets it."""

    credential: str = ""
    generation: int = 0
    lasting: str = ""  # why no other token of it would be accepted either; "" where a new one may be
    secrets: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)  # name -> value; never kept
    only_here: bool = False  # the secrets are known there, and may not do this: other tools may still use them
    tool: str = ""  # whose request that was; "": of the one that was to act


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """This send did nothing, by the provider's word. `retry_after`: seconds it asked us to wait.

    `mismatch`: it says that our key came with another request before; then no other key is ever made."""

    reason: str
    code: str = (
        ""  # why, as a word that people and policies read: disputed, less_remains, stale_read, changed; "": refused
    )
    temporary: bool = False
    mismatch: bool = False
    rejected: Rejected | None = None  # it says nothing of the act, only of who asked
    retry_after: float | None = None
    evidence: JsonObject = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """No byte of the request can have reached the provider. `ours`: it was us who held it back, not the network;
    `held`: by a stop or for a credential, so that the time of it is not the effect's own."""

    reason: str
    ours: bool = False
    held: bool = False
    evidence: JsonObject = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Nobody can tell from this send whether it did anything.

    `in_flight`: an earlier send with our key is still being worked on, so this one isn't counted. `replayed`: the
    provider said again what it kept under our key, and will say nothing else."""

    reason: str
    in_flight: bool = False
    replayed: bool = False
    retry_after: float | None = None
    evidence: JsonObject = dataclasses.field(default_factory=dict)


Outcome = Acknowledged | Pending | Refused | NotSent | Unknown


class Verdict(enum.StrEnum):
    """What one look showed."""

    FOUND = "found"
    ABSENT = "absent"
    DIFFERS = "differs"
    SEVERAL = "several"
    INCONCLUSIVE = "inconclusive"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """The value of one look. `reached` is false where the authority could not be asked at all; `gone` says of what
    differs that it existed, and doesn't any more; `unmade`, that no look can ever be made of what is known."""

    verdict: Verdict
    reason: str = ""
    result: JsonObject = dataclasses.field(default_factory=dict)
    reached: bool = True
    gone: bool = False
    unmade: bool = False
    rejected: Rejected | None = None
    retry_after: float | None = None
    evidence: JsonObject = dataclasses.field(default_factory=dict)


NAMES = ("id", "uid", "url", "message_id", "reference")


def reference(result: JsonObject | None) -> str:
    """The name by which the outside knows the thing: the first of the usual fields of a result."""
    for name in NAMES:
        value = (result or {}).get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)[:500]
    return ""
