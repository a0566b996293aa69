"""The facts that words are made of: plain values, read once from rows by `repairs.reading`."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum

from workflows.states import EffectState, Kind, World


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LookFacts:
    """The last look at the authoritative state."""

    at: dt.datetime
    verdict: str
    reached: bool = True
    counted: bool = True
    reason: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SendFacts:
    """The last send. `outcome` is "" while nobody knows it."""

    at: dt.datetime
    outcome: str
    reason: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EffectFacts:
    """One effect. For a compensation `statement` says what stands while it isn't undone, `thing` the world of that."""

    id: str
    step: str
    tool: str
    kind: str = Kind.FORWARD.value
    state: str
    world: str
    reason: str = ""
    detail: str = ""
    statement: str = ""
    owner: str = ""
    effect_class: str = "reversible"
    customer_visible: bool = False
    verifiable: bool = True
    can_look: bool = True
    can_undo: bool = True  # its tool declares a compensation
    keyed: bool = False  # the provider honours our key
    key: str = ""
    key_until: dt.datetime | None = None  # until when it remembers it
    window_until: dt.datetime | None = None  # until when it can be undone by its tool
    miss_from: dt.datetime | None = None  # before that, what was sent may still take effect
    ref: str = ""  # what the provider calls it
    attempts: int = 0
    waits_for: tuple[str, ...] = ()
    verified_at: dt.datetime | None = None
    changed_at: dt.datetime | None = None
    look: LookFacts | None = None
    send: SendFacts | None = None
    value: tuple[int, str] | None = None  # minor units, currency
    unwanted: bool = False  # the run turns back: what stands of this should not
    thing: str = World.PRESENT.value
    stand_in: bool = False  # an undoing by another tool, tried because the tool's own was refused for good

    @property
    def undoing(self) -> bool:
        return self.kind == Kind.COMPENSATION

    @property
    def remedy(self) -> bool:
        return self.kind == Kind.REMEDY

    @property
    def stuck(self) -> bool:
        return self.state == EffectState.STUCK

    @property
    def irreversible(self) -> bool:
        return self.effect_class == "irreversible"

    @property
    def read_only(self) -> bool:
        return self.effect_class == "read_only"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a run needs a person: one row of its `people_reasons`."""

    code: str
    effect: str = ""
    step: str = ""
    tool: str = ""
    detail: str = ""


class Standing(enum.StrEnum):
    """What is true outside of the thing an effect made or was to undo."""

    ABSENT = "absent"
    STANDS = "stands"
    DIFFERS = "differs"
    SEVERAL = "several"
    UNKNOWN = "unknown"


_OF_WORLD = {
    World.NOTHING.value: Standing.ABSENT,
    World.GONE.value: Standing.ABSENT,
    World.PRESENT.value: Standing.STANDS,
    World.DIFFERS.value: Standing.DIFFERS,
    World.SEVERAL.value: Standing.SEVERAL,
    World.UNKNOWN.value: Standing.UNKNOWN,
}


def standing(effect: EffectFacts) -> Standing:
    """A compensation's world speaks of the undoing: `present` means that it was seen, `nothing` that there was none."""
    if not effect.undoing:
        return _OF_WORLD[effect.world]
    match World(effect.world):
        case World.PRESENT if effect.stand_in:
            return Standing.UNKNOWN  # another act was seen; of the thing itself nothing is proved
        case World.PRESENT | World.GONE:
            return Standing.ABSENT
        case World.NOTHING:
            return _OF_WORLD[effect.thing]
        case World.DIFFERS | World.SEVERAL | World.UNKNOWN:
            return _OF_WORLD[effect.world]


def wanted_gone(effect: EffectFacts) -> bool:
    return effect.undoing or effect.unwanted
