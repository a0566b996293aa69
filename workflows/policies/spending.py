"""What an act costs, and whether that fits into the budgets it falls under. Pure; `authority.budgets` writes it down.

Units are currencies ("EUR", in minor units), "effects", "customers", "calls" and "milliseconds" (of calling). The first
three are counted once an effect (its `worth`), the others at each send (its `call`).
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from collections.abc import Iterable, Mapping
from typing import Any

Amounts = dict[str, int]
EVER, MINUTE, HOUR, DAY = "ever", "minute", "hour", "day"
LENGTHS = {MINUTE: dt.timedelta(minutes=1), HOUR: dt.timedelta(hours=1), DAY: dt.timedelta(days=1)}
CURRENCY = re.compile(r"[A-Z]{3}")
CALLS, EFFECTS, CUSTOMERS, TIME = "calls", "effects", "customers", "milliseconds"
PERSON, SETTLING, WINDOW = "person", "settling", "window"  # what somebody who found too little waits for


@dataclasses.dataclass(slots=True)
class Book:
    """One budget as it stands. `aside`: what undoing drew from the reserve, beside the limits.

    `reserved` is held by acts whose end isn't known; `used` is gone for good."""

    limits: Amounts
    used: Amounts = dataclasses.field(default_factory=dict)
    reserved: Amounts = dataclasses.field(default_factory=dict)
    aside: Amounts = dataclasses.field(default_factory=dict)
    per: str = EVER
    window: dt.datetime | None = None

    def limit(self, unit: str) -> int | None:
        """None: unlimited. Who limits one currency means money: of every other there is none."""
        if CURRENCY.fullmatch(unit) and unit not in self.limits and self.currencies:
            return 0
        return self.limits.get(unit)

    @property
    def currencies(self) -> list[str]:
        return currencies(self.limits)

    def taken(self, unit: str) -> int:
        return self.used.get(unit, 0) + self.reserved.get(unit, 0)

    def left(self, unit: str) -> int | None:
        limit = self.limit(unit)
        return None if limit is None else limit - self.taken(unit)


@dataclasses.dataclass(frozen=True, slots=True)
class Short:
    """What a budget lacks. `waits`: for a person, for acts under way to settle, or for its next window."""

    unit: str
    limit: int
    used: int
    reserved: int
    needed: int
    waits: str
    until: dt.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """What one send of one effect costs in one budget. `worth` is empty where an earlier send's still counts."""

    worth: Amounts
    call: Amounts

    @property
    def total(self) -> Amounts:
        return plus(self.worth, self.call)


def begin_of_window(per: str, now: dt.datetime) -> dt.datetime | None:
    """Windows are calendar ones, in UTC."""
    if per == EVER:
        return None
    floor = {"second": 0, "microsecond": 0}
    floor |= {} if per == MINUTE else {"minute": 0} if per == HOUR else {"minute": 0, "hour": 0}
    return now.replace(**floor)  # type: ignore[arg-type]


def roll(book: Book, now: dt.datetime) -> None:
    """Begins the window of `now` with nothing taken. What was taken before belongs to its own window."""
    window = begin_of_window(book.per, now)
    if window != book.window and (book.window is None or window is None or window > book.window):
        book.window = window
        book.used, book.reserved, book.aside = {}, {}, {}


def money_of(value: Any, declared: Mapping[str, Any] | None, worst: Amounts, limits: Amounts) -> Amounts:
    """What an act moves, by currency. Its value where that is known; else the worst case, never nothing.

    1. A tool that declares no value moves no money, unless a worst case is set for it.
    2. A value that can't be known is the worst case that is set for the tool; without one it is all that is allowed.
    3. A negative value is as much money in motion as a positive one."""
    limited = currencies(limits)
    if not limited:
        return {}
    if isinstance(value, Mapping) and _whole(value.get("amount")) and _currency(value.get("currency")):
        return {value["currency"]: abs(value["amount"])}
    worst = {unit: amount for unit, amount in worst.items() if _currency(unit)}
    if declared is None or worst:
        return worst
    named = str(declared.get("currency"))
    return {unit: max(limits.get(unit, 0), 1) for unit in ([named] if _currency(named) else limited)}


def cost_of(*, money: Amounts, counts: bool, new_customer: bool, timeout: float, looks: int = 0) -> Cost:
    """`counts`: it changes something, so it is an effect; `timeout`: seconds, the longest that one call may take;
    `looks`: the calls that looking at it may cost."""
    worth = dict(money)
    if counts:
        worth[EFFECTS] = 1
    if counts and new_customer:
        worth[CUSTOMERS] = 1
    return Cost(worth, {CALLS: 1 + looks, TIME: milliseconds(timeout)})


def short_of(book: Book, need: Amounts, now: dt.datetime) -> Short | None:
    """The first unit of which there is too little for `need`; None where all fits."""
    for unit, amount in sorted(need.items()):
        limit = book.limit(unit)
        if limit is not None and amount > 0 and book.taken(unit) + amount > limit:
            return _short(book, unit, limit, amount, now)
    return None


def _short(book: Book, unit: str, limit: int, needed: int, now: dt.datetime) -> Short:
    used, reserved = book.used.get(unit, 0), book.reserved.get(unit, 0)
    waits, until = PERSON, None
    if needed > limit:
        pass  # it would not fit into an empty one either
    elif book.per != EVER:
        begin = begin_of_window(book.per, now)
        waits, until = WINDOW, begin + LENGTHS[book.per] if begin else None
    elif used + needed <= limit:
        waits = SETTLING
    return Short(unit, limit, used, reserved, needed, waits, until)


def gives_more(was: Amounts, limits: Amounts) -> bool:
    """Whether anything may be spent under `limits` that could not be under `was`."""
    before, after = Book(was), Book(limits)
    pairs = [(before.limit(unit), after.limit(unit)) for unit in {*was, *limits}]
    return any(old is not None and (new is None or new > old) for old, new in pairs)


def tell(told: dict[str, Any], book: Book) -> None:
    """Adds what a policy may ask of one budget; of a unit told already the one with less left stays."""
    for unit, limit in book.limits.items():
        scale = 1000 if unit == TIME else 1
        name = "seconds" if unit == TIME else unit
        left = max(limit - book.taken(unit), 0) // scale
        if name not in told or left < told[name]["left"]:
            amounts = {"limit": limit, "used": book.used.get(unit, 0), "reserved": book.reserved.get(unit, 0)}
            told[name] = {**{key: amount // scale for key, amount in amounts.items()}, "left": left}


def for_a_person(effect: Any) -> bool:
    """Whether nothing but a raised budget lets a blocked effect go."""
    short = effect.state == "blocked" and effect.reason == "budget"
    return short and any(by.get("waits") == PERSON for by in effect.blocked_by)


def draws_on_reserve(kind: str) -> bool:
    """Undoing is never refused for want of a budget: each act that left brought along the reserve for its undoing."""
    return kind == "compensation"


def drawn(cost: Cost, sent_before: dt.datetime | None) -> Amounts:
    """What one send of an undoing draws from the reserve: its worth the first time, then only the call."""
    calls = {CALLS: cost.call[CALLS]}
    return calls if sent_before else {**cost.worth, **calls}


def plus(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    return {unit: one.get(unit, 0) + other.get(unit, 0) for unit in [*one, *(u for u in other if u not in one)]}


def minus(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    """Units of which nothing is left are left out."""
    found = {unit: one.get(unit, 0) - other.get(unit, 0) for unit in [*one, *(u for u in other if u not in one)]}
    return {unit: amount for unit, amount in found.items() if amount}


def milliseconds(seconds: float) -> int:
    return max(round(seconds * 1000), 1)


def currencies(amounts: Iterable[str]) -> list[str]:
    return [unit for unit in amounts if _currency(unit)]


def said(unit: str, amount: int) -> str:
    """An amount for people: `12 calls`, `4999 EUR minor units`, `1.5 s`."""
    if unit == TIME:
        return f"{amount / 1000:g} s"
    if _currency(unit):
        return f"{amount} {unit} minor units"
    return f"{amount} {unit if amount != 1 else unit.removesuffix('s')}"


def _whole(amount: Any) -> bool:
    return isinstance(amount, int) and not isinstance(amount, bool)


def _currency(unit: Any) -> bool:
    return isinstance(unit, str) and CURRENCY.fullmatch(unit) is not None
