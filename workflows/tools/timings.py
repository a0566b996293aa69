"""How long a tool's operation may take, lag, be asked and be repeated: what the engine reads of a manifest."""

from __future__ import annotations

import dataclasses
import datetime as dt

from workflows.tools.defaults import LATE

# A key is given up this much before its time: their clock isn't ours, and what we send is under way for a while.
MARGIN_SHARE = 0.1
LONGEST_MARGIN = 300.0  # five minutes cover any timeout (60 s) and clocks that are not far off


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
    recheck: tuple[float, ...] = ()  # compensate only: how long after it was seen it is looked at again
    adopt: str = "ours"  # of a natural key: "equal" takes for done what anybody made
    keeps: str = "executed"  # under our key: "success", "executed" (failures too) or "all" (refusals too)
    repeats: bool = True  # whether absence after an unknown outcome may be followed by a second send; never for mail

    @property
    def blind(self) -> bool:
        """Whether our key alone makes a second send harmless. One that keeps only a yes acts again after a failure."""
        return self.keyed and self.keeps != "success"

    def keyless(self) -> Timings:
        """The same tool, were its provider to know no keys. A `late` that was left out is then a longer one."""
        late = max(self.late, LATE) if self.late == self.timeout else self.late
        return dataclasses.replace(self, keyed=False, retention=None, late=late)

    def key_until(self, first_sent_at: dt.datetime | None) -> dt.datetime | None:
        """Until when the same key may be sent again unseen; None: without end, or nothing was sent, or no key."""
        if not self.keyed or self.retention is None or first_sent_at is None:
            return None
        return first_sent_at + dt.timedelta(seconds=safe(self.retention))


def safe(retention: float) -> float:
    """How much of a retention is relied upon. An unpublished one is 0."""
    return retention - min(retention * MARGIN_SHARE, LONGEST_MARGIN)
