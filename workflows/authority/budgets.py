"""Budgets: reserved in the transaction that dispatches, settled in the one that records. Durable, and shared by all who
fall under them.

1. Every send reserves, retries included; what is not known is reserved at its worst.
2. Undoing is counted beside the limits and never refused: who may act must be able to undo.
3. What is reserved is spent when the act was said or seen to stand, given back when it is proved that nothing was done,
   and held as long as nobody knows.
4. Who finds too little is blocked, says by which budget, and keeps none of its scopes.
5. Who waited goes first: while somebody older may look again, who came later stays ready and is asked in a moment.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from workflows import ledger
from workflows.authority import budget_rows
from workflows.authority.budget_rows import Books
from workflows.fetch import new
from workflows.models import Budget, Effect, Reservation, ToolCost
from workflows.outcomes import NotSent, Outcome
from workflows.policies import holds, spending
from workflows.policies.spending import Amounts, Cost, Short
from workflows.states import EffectState
from workflows.toolbox import times_of

NO_COST = ToolCost(tool="")
Key = tuple[uuid.UUID, uuid.UUID]  # budget, effect


def reserve(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> list[Effect]:
    """Those for which there is enough; the others are blocked as `budget` and let their scopes go."""
    limited = [effect for effect in effects if effect.limited]
    books = budget_rows.locked_of(limited, now) if limited else None
    if books is None or not books.budgets:
        return list(effects)
    rows = {(row.budget_id, row.effect_id): row for row in _earlier(effects, books)}
    for row in rows.values():
        if row.call:  # a lost worker's, which nobody came back to yet
            holds.end_call(books.books[row.budget_id], row, row.call)
    desk = _Desk(books, rows, effects)
    line = budget_rows.line(books, max(place_of(effect) for effect in limited), now)
    going = [e for e in effects if not _behind(e, books, line) and desk.serve(e, now, stopped)]
    books.write()
    budget_rows.save(list(rows.values()))
    gone = {effect.id for effect in going}
    # What an earlier send may have left keeps its scope: nobody else may touch that.
    ledger.let_go([e.id for e in effects if e.id not in gone and e.scopes and not e.doubt])
    return going


def place_of(effect: Effect) -> tuple[int, int]:
    return effect.epoch, effect.ordinal


def _behind(effect: Effect, books: Books, line: Mapping[uuid.UUID, tuple[int, int]]) -> bool:
    if not line or spending.draws_on_reserve(effect.kind):
        return False
    mine = place_of(effect)
    return any(line.get(budget.id, mine) < mine for budget in books.of(effect))


def facts(effects: Sequence[Effect], now: dt.datetime) -> dict[uuid.UUID, dict[str, Any]]:
    """What policies may ask: by effect, {"run": {"calls": {"limit", "used", "reserved", "left"}}} and so on, of the
    budgets there are. Of several of a kind (windows, runs above) each unit is told where least is left.

    Asked where there are budgets at all; `reserve` asks nothing of effects that this was not asked about."""
    books = budget_rows.read_of(effects, now)
    found = {}
    for effect in effects:
        effect.limited = True
        told: dict[str, Any] = {}
        for budget in books.of(effect):
            spending.tell(told.setdefault(budget.kind, {}), books.books[budget.id])
        found[effect.id] = told
    return found


def _earlier(effects: Sequence[Effect], books: Books) -> list[Reservation]:
    sent = [effect.id for effect in effects if effect.first_sent_at]
    return [row for row in budget_rows.reservations(sent) if row.budget_id in books.books] if sent else []


class _Desk:
    """Serves one effect after the other: all of its budgets have enough, or nothing of any is taken."""

    def __init__(self, books: Books, rows: dict[Key, Reservation], effects: Sequence[Effect]) -> None:
        self.books, self.rows = books, rows
        self.ahead: dict[tuple[uuid.UUID, str], int] = {}  # what those refused before need of a unit
        self.costs = budget_rows.costs(effects)
        self.touched = budget_rows.touched(books, [subject_of(effect) for effect in effects])

    def serve(self, effect: Effect, now: dt.datetime, stopped: list[Effect]) -> bool:
        mine = self.books.of(effect)
        if spending.draws_on_reserve(effect.kind):
            for budget in mine:
                book = self.books.books[budget.id]
                book.aside = spending.plus(book.aside, spending.drawn(self._cost(effect, budget), effect.first_sent_at))
            return True
        needs = {budget.id: self._need(effect, budget) for budget in mine}
        shorts = [(b, s) for b in mine if (s := spending.short_of(self.books.books[b.id], needs[b.id].total, now))]
        if shorts:
            _block(effect, [(budget, self._in_line(budget, short)) for budget, short in shorts])
            stopped.append(effect)
            return False
        for budget in mine:
            self._take(effect, budget, needs[budget.id])
        effect.reserved = bool(mine)
        return True

    def _in_line(self, budget: Budget, short: Short) -> Short:
        """Who waits for a window waits for the one in which those refused before it will have found enough: thousands
        would else all come back each minute to find that two may go."""
        if short.until is None:
            return short
        key = (budget.id, short.unit)
        ahead = self.ahead.get(key, 0)
        self.ahead[key] = ahead + short.needed
        return dataclasses.replace(short, until=short.until + ahead // short.limit * spending.LENGTHS[budget.per])

    def _need(self, effect: Effect, budget: Budget) -> Cost:
        return holds.need_of(
            self.books.books[budget.id], self.rows.get((budget.id, effect.id)), self._cost(effect, budget)
        )

    def _cost(self, effect: Effect, budget: Budget) -> Cost:
        declared: Mapping[str, Any] | None = effect.tool.spec.get("value")
        set_ = self.costs.get(effect.tool.name, NO_COST)
        counting = spending.CUSTOMERS in budget.limits
        return spending.cost_of(
            money=spending.money_of(effect.value, declared, set_.worst, budget.limits),
            counts=not effect.read_only,
            new_customer=counting and (budget.id, subject_of(effect)) not in self.touched,
            timeout=times_of(effect).timeout,
            looks=set_.looks,
        )

    def _take(self, effect: Effect, budget: Budget, need: Cost) -> None:
        key = (budget.id, effect.id)
        row = self.rows.get(key)
        if row is None:
            subject = subject_of(effect)
            row = new(Reservation, budget_id=budget.id, effect_id=effect.id, subject=subject)
            row.window = self.books.books[budget.id].window
            self.rows[key] = row
        holds.take(self.books.books[budget.id], row, need)
        if spending.EFFECTS in need.worth:
            self.touched.add((budget.id, row.subject))


def subject_of(effect: Effect) -> str:
    return f"{effect.run.subject_type}:{effect.run.subject_id}"


def _block(effect: Effect, shorts: list[tuple[Budget, Short]]) -> None:
    """It is due again when the last of the windows it waits for begins, if it waits for nothing else."""
    untils = [short.until for _, short in shorts]
    due = None if None in untils else max(until for until in untils if until)
    effect.block(reason="budget", blocked_by=[_told(budget, short) for budget, short in shorts], due_at=due)
    effect.detail = "; ".join(_said(budget, short) for budget, short in shorts)[:1000]


def _told(budget: Budget, short: Short) -> dict[str, Any]:
    """`revision`: of the budget as it was judged; another one is looked at anew."""
    timed = short.unit == spending.TIME
    amounts = {"limit": short.limit, "used": short.used, "reserved": short.reserved, "needed": short.needed}
    return {
        "budget": str(budget.id),
        "of": str(budget),
        "unit": "seconds" if timed else short.unit,
        **{name: amount / 1000 if timed else amount for name, amount in amounts.items()},
        "waits": short.waits,
        "until": short.until.isoformat() if short.until else None,
        "revision": budget.revision,
    }


def _said(budget: Budget, short: Short) -> str:
    unit = short.unit
    held = f" and {spending.said(unit, short.reserved)} held" if short.reserved else ""
    return (
        f"{budget} may take {spending.said(unit, short.limit)}: "
        f"{spending.said(unit, short.used)} used{held}, {spending.said(unit, short.needed)} needed"
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Fact:
    """Where an effect is. `call`: milliseconds that its send took; None: nothing was sent; -1: nobody knows."""

    state: str
    world: str
    call: int | None = -1


def settle(answered: Sequence[tuple[Effect, Outcome]], now: dt.datetime) -> None:
    """Takes for good what was reserved for a send that happened, and gives back what wasn't used."""
    facts = {}
    for effect, outcome in answered:
        if effect.reserved:
            took = spending.milliseconds((now - effect.sending.started_at).total_seconds())
            facts[effect.id] = Fact(effect.state, effect.world, None if isinstance(outcome, NotSent) else took)
    if facts:
        settle_facts(budget_rows.locked_for(facts, now), facts)


def settle_facts(books: Books, facts: Mapping[uuid.UUID, Fact]) -> None:
    """`books`: of the budgets that these effects took something of, locked."""
    rows = [row for row in budget_rows.reservations(facts) if row.budget_id in books.books]
    given_back = []
    for row in rows:
        book, fact = books.books[row.budget_id], facts[row.effect_id]
        if row.call and fact.state != EffectState.DISPATCHED:
            holds.end_call(book, row, _spent(row.call, fact.call))
        was = row.state
        holds.settle(book, row, holds.worth_after(fact.state, fact.world, was))
        if row.state == holds.RETURNED != was and row.window == book.window and spending.CUSTOMERS in row.worth:
            given_back.append(row)
    heirs = budget_rows.heirs(books, given_back, beside=[row for row in rows if row.state == holds.RETURNED])
    for row in given_back:
        if heir := heirs.pop((row.budget_id, row.subject), None):
            _inherit(books, next((r for r in rows if r.id == heir.id), heir), rows)
    books.write()
    budget_rows.save(rows)


def _inherit(books: Books, heir: Reservation, rows: list[Reservation]) -> None:
    """The customer is still touched by somebody else's effect, which counts them now."""
    one = {spending.CUSTOMERS: 1}
    book = books.books[heir.budget_id]
    heir.worth = spending.plus(heir.worth, one)
    if heir.state == holds.HELD:
        book.reserved = spending.plus(book.reserved, one)
    else:
        book.used = spending.plus(book.used, one)
    if heir not in rows:
        rows.append(heir)


def _spent(call: Amounts, took: int | None) -> Amounts:
    """A call can't take longer than its timeout; what is beyond it is ours. Where nobody knows it is all of it."""
    if took is None:
        return {}
    return call if took < 0 else {**call, spending.TIME: min(took, call.get(spending.TIME, took))}
