"""The words of states and the one table of allowed moves. Pure; models, set writes and the database's trigger read it.

The table follows DESIGN 4; `docs/states.md` is compared with it by a test.
"""

from __future__ import annotations

import dataclasses
import enum


class EffectState(enum.StrEnum):
    BLOCKED = "blocked"
    READY = "ready"
    DISPATCHED = "dispatched"
    PENDING = "pending"
    ACKNOWLEDGED = "acknowledged"
    UNKNOWN = "unknown"
    VERIFIED = "verified"
    STUCK = "stuck"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNDONE = "undone"
    WRITTEN_OFF = "written_off"


class World(enum.StrEnum):
    """What was last proved about the outside."""

    NOTHING = "nothing"
    PRESENT = "present"
    DIFFERS = "differs"
    SEVERAL = "several"
    GONE = "gone"
    UNKNOWN = "unknown"


class Kind(enum.StrEnum):
    FORWARD = "forward"
    COMPENSATION = "compensation"
    REMEDY = "remedy"


class StepState(enum.StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    FAILED = "failed"
    UNDONE = "undone"
    SKIPPED = "skipped"


class Phase(enum.StrEnum):
    OPEN = "open"
    RUNNING = "running"
    UNWINDING = "unwinding"
    OVER = "over"


class RunState(enum.StrEnum):
    OPEN = "open"
    RUNNING = "running"
    UNWINDING = "unwinding"
    STUCK = "stuck"
    WRITTEN_OFF = "written_off"
    REPAIRED = "repaired"
    COMPLETED = "completed"
    COMPENSATED = "compensated"
    COMPENSATED_WITH_RESIDUE = "compensated_with_residue"
    CANCELLED = "cancelled"
    FAILED = "failed"


class CaseState(enum.StrEnum):
    OPEN = "open"
    WAITING = "waiting"
    RESOLVED = "resolved"
    WRITTEN_OFF = "written_off"


# An undoing's generation counts its fallbacks within a round; a person who has it undone again begins the next round.
A_ROUND = 100

S = EffectState
REST = frozenset({S.FAILED, S.CANCELLED, S.UNDONE, S.WRITTEN_OFF})
IN_FLIGHT = frozenset({S.DISPATCHED, S.PENDING})
# Those that may be due for a look: what waits for one, and what is settled or at rest and is looked at once more. Whole
# in the index's condition and in whoever asks along it, as SQL too.
LOOKED_AT = (
    S.UNKNOWN, S.ACKNOWLEDGED, S.PENDING, S.BLOCKED, S.VERIFIED, S.FAILED, S.CANCELLED, S.UNDONE, S.WRITTEN_OFF,
)  # fmt: skip
# Those of which something isn't known as long as nobody can look; whole in the index's condition too.
UNCHECKED = (S.ACKNOWLEDGED, S.BLOCKED, S.PENDING, S.STUCK, S.UNKNOWN)
LOOKED_AT_SQL = ", ".join(f"'{state.value}'" for state in LOOKED_AT)


@dataclasses.dataclass(frozen=True, slots=True)
class Move:
    """One named move of an effect: from any of `sources` to `target`."""

    sources: frozenset[EffectState]
    target: EffectState


def _move(target: EffectState, *sources: EffectState) -> Move:
    return Move(frozenset(sources), target)


MOVES: dict[str, Move] = {
    "release": _move(S.READY, S.BLOCKED),
    "block": _move(S.BLOCKED, S.READY),
    "adopt": _move(S.VERIFIED, S.BLOCKED),
    "cancel": _move(S.CANCELLED, S.BLOCKED, S.READY),
    "dispatch": _move(S.DISPATCHED, S.READY),
    "give_back": _move(S.READY, S.DISPATCHED),
    "acknowledge": _move(S.ACKNOWLEDGED, S.DISPATCHED, S.PENDING),
    "pend": _move(S.PENDING, S.DISPATCHED),
    "lose": _move(S.UNKNOWN, S.DISPATCHED, S.PENDING),
    "verify": _move(S.VERIFIED, S.ACKNOWLEDGED, S.UNKNOWN),
    "resend": _move(S.READY, S.UNKNOWN),
    "fail": _move(S.FAILED, S.DISPATCHED, S.PENDING, S.UNKNOWN),
    "undo": _move(S.UNDONE, S.ACKNOWLEDGED, S.VERIFIED, S.STUCK),
    "stick": _move(
        S.STUCK,
        S.BLOCKED,
        S.READY,
        S.DISPATCHED,
        S.PENDING,
        S.ACKNOWLEDGED,
        S.UNKNOWN,
        S.VERIFIED,
        S.FAILED,
        S.CANCELLED,
        S.UNDONE,
        S.WRITTEN_OFF,
    ),
    # What a person's act says of a stuck effect.
    "look_again": _move(S.UNKNOWN, S.STUCK),
    "find": _move(S.VERIFIED, S.STUCK),
    "clear": _move(S.CANCELLED, S.STUCK),
    "try_again": _move(S.READY, S.STUCK),
    "write_off": _move(S.WRITTEN_OFF, S.STUCK),
}


def pairs() -> set[tuple[str, str]]:
    """Every allowed (from, to): what the trigger on the effects table lets pass."""
    return {(source.value, move.target.value) for move in MOVES.values() for source in move.sources}
