"""How long a tool's operation may take, lag, be asked and be repeated: what the engine reads of a manifest."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """The times and abilities of one operation ("execute" or "compensate") of one tool."""

    timeout: float
    late: float  # the longest time after which a sent request may still take effect
    settle: float  # how long after a call a miss is not yet absence
    every: float
    looks: int
    within: float  # how long an authority that can't be reached is asked
    attempts: int  # sends, the first included; not-sent doesn't count
    first: float
    max: float
    retry_within: float
    keyed: bool  # our key is honoured
    natural: bool  # the world is asked by a natural key before the first send
    retention: float | None  # how long the provider keeps our key
    can_look: bool  # a verify is declared
    verifies: bool  # and it reads the authoritative state
    window: float | None  # compensate only: after it, don't call
    poll_every: float
    poll_within: float
    repeats: bool = True  # whether absence after an unknown outcome may be followed by a second send; never for mail
