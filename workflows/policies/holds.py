"""What became of what an effect reserved: held, spent or returned, and what that means for its budget. Pure."""

from __future__ import annotations

import datetime as dt
from typing import Protocol

from workflows.policies.spending import Amounts, Book, Cost, minus, plus

HELD, SPENT, RETURNED = "held", "spent", "returned"


def worth_after(state: str, world: str, was: str) -> str:
    """What the worth of an effect is now: held while its end is open, spent once it was said or seen to stand, returned
    where it is proved that nothing was done. What was spent stays so: undoing it makes nothing unspent."""
    if was == SPENT or state in ("acknowledged", "verified", "undone"):
        return SPENT
    if state in ("failed", "cancelled"):
        return RETURNED
    if state in ("written_off", "stuck") and world == "nothing":
        return RETURNED if state == "written_off" else was
    if state in ("written_off", "stuck") and world != "unknown":
        return SPENT
    if state == "written_off":
        return SPENT  # nobody will find out any more
    return was if state in ("blocked", "ready") else HELD


class Hold(Protocol):
    """What one effect takes of one budget: the model `Reservation`."""

    window: dt.datetime | None
    worth: Amounts
    state: str
    call: Amounts
    calls: Amounts
    open: bool


def need_of(book: Book, hold: Hold | None, cost: Cost) -> Cost:
    """What one more send needs: nothing for its worth where an earlier send's still counts in this window."""
    counted = hold is not None and hold.window == book.window and hold.state != RETURNED
    return Cost({}, cost.call) if counted else cost


def take(book: Book, hold: Hold, need: Cost) -> None:
    """Reserves, for a send that is about to begin."""
    if need.worth:
        hold.worth, hold.state = need.worth, HELD
    if hold.window != book.window:
        hold.window, hold.calls = book.window, {}
    hold.call, hold.open = need.call, True
    book.reserved = plus(book.reserved, need.total)


def end_call(book: Book, hold: Hold, spent: Amounts) -> None:
    """`spent`: what the send under way cost in the end; {} where nothing was sent."""
    if hold.window == book.window:
        book.reserved = minus(book.reserved, hold.call)
        book.used = plus(book.used, spent)
    hold.calls = plus(hold.calls, spent)
    hold.call = {}


def settle(book: Book, hold: Hold, state: str) -> None:
    """Moves the effect's worth to where it belongs now, and closes what nobody has to come back to."""
    if hold.window == book.window and state != hold.state:
        if hold.state == HELD:
            book.reserved = minus(book.reserved, hold.worth)
        if state == HELD:
            book.reserved = plus(book.reserved, hold.worth)
        elif state == SPENT:
            book.used = plus(book.used, hold.worth)
    hold.state = state
    hold.open = state == HELD or bool(hold.call)


def eased(before: Book, after: Book) -> bool:
    """Whether somebody who found too little should look again: there is more, or what was reserved came to its end."""
    return any(
        after.taken(unit) < before.taken(unit) or (before.reserved.get(unit) and not after.reserved.get(unit))
        for unit in {*before.used, *before.reserved}
        if before.limit(unit) is not None
    )
