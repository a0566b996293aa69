"""A budget in words: how much of each unit is taken and left, and what a waiting effect found too little of. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from repairs.words.marked import _

NAMES = {
    "calls": _("calls"),
    "effects": _("effects"),
    "customers": _("customers touched"),
    "milliseconds": _("seconds of calling"),
}
Amounts = Mapping[str, int]
PER = {"ever": _("in all"), "minute": _("each minute"), "hour": _("each hour"), "day": _("each day")}


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One unit of a budget. `limit` None: counted, not limited. Money has its `currency`."""

    unit: str
    name: str
    limit: int | None
    used: int
    reserved: int
    aside: int
    currency: str = ""

    @property
    def left(self) -> int:
        return max((self.limit or 0) - self.used - self.reserved, 0)

    @property
    def full(self) -> bool:
        return self.limit is not None and self.used + self.reserved >= self.limit

    @property
    def timed(self) -> bool:
        return self.unit == "milliseconds"


def lines(limits: Amounts, used: Amounts, reserved: Amounts, aside: Amounts) -> list[Line]:
    """The limited units first, then what is only counted."""
    units = [*limits, *sorted({*used, *reserved, *aside} - {*limits})]
    return [
        Line(
            unit=unit,
            name=NAMES[unit] if unit in NAMES else _("money, {currency}", currency=unit),
            limit=limits.get(unit),
            used=used.get(unit, 0),
            reserved=reserved.get(unit, 0),
            aside=aside.get(unit, 0),
            currency="" if unit in NAMES else unit,
        )
        for unit in units
    ]


def compared(was: Amounts, then: Amounts) -> list[tuple[Line, Line]]:
    """The units whose limits differ, before and after."""
    nothing: Amounts = {}
    both = lines({**was, **then}, nothing, nothing, nothing)
    return [
        (dataclasses.replace(line, limit=was.get(line.unit)), dataclasses.replace(line, limit=then.get(line.unit)))
        for line in both
        if was.get(line.unit) != then.get(line.unit)
    ]


def too_little(blocker: Mapping[str, Any]) -> str:
    """Of a waiting effect: which budget, what it needs, and for what it waits."""
    held, then = blocker.get("reserved"), WAITS.get(str(blocker.get("waits")))
    names = ("of", "unit", "used", "limit", "needed")
    found = (FOUND_HELD if held else FOUND).given(**{name: blocker.get(name) for name in names}, held=held)
    return then.given(found=found) if then else found


FOUND = _("{of}: {unit} {used} of {limit}, {needed} needed")
FOUND_HELD = _("{of}: {unit} {used} and {held} held of {limit}, {needed} needed")
WAITS = {
    "person": _("{found}; only a raised limit lets it go"),
    "settling": _("{found}; it waits for what is under way"),
    "window": _("{found}; it goes on in the next window"),
}
EVENTS = {
    "create": _("set it"),
    "lower": _("lowered it"),
    "ask_raise": _("asked for more"),
    "raise": _("confirmed more"),
    "decline_raise": _("declined more"),
}
