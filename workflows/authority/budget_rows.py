"""Reads budgets under their locks, and writes what was counted: constant statements, whatever their number.

Budgets are locked last of all (after runs, effects and scopes), in the order of their ids.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence

from django.db import connection

from workflows import rows
from workflows.fetch import fetch
from workflows.models import Budget, Effect, Reservation, ToolCost
from workflows.policies import holds, spending
from workflows.policies.spending import Book


class Books:
    """Locked budgets with what is counted in memory; `write` puts it into the rows."""

    def __init__(self, budgets: Iterable[Budget], now: dt.datetime) -> None:
        self.budgets = {budget.id: budget for budget in budgets}
        self.by_owner: dict[str, list[Budget]] = {}
        self.books: dict[uuid.UUID, Book] = {}
        self._read: dict[uuid.UUID, Book] = {}
        self._before: dict[uuid.UUID, Book] = {}
        for budget in self.budgets.values():
            self.by_owner.setdefault(budget.owner, []).append(budget)
            self._read[budget.id] = budget.book()
            # Who waits for a window has its time; that one begins gives nobody else a reason to look again.
            for books in (self._before, self.books):
                books[budget.id] = budget.book()
                spending.roll(books[budget.id], now)

    def of(self, effect: Effect) -> list[Budget]:
        """All that an effect falls under; those of a run with those of the runs that it was begun under."""
        own = [budget for owner in owners_of(effect) for budget in self.by_owner.get(owner, ())]
        ids = dict.fromkeys(i for budget in own for i in budget.line)
        return [self.budgets[i] for i in ids if i in self.budgets]

    def write(self) -> None:
        data = [
            {
                "id": pk,
                "used": book.used,
                "reserved": book.reserved,
                "aside": book.aside,
                "window": book.window,
                "eased": int(holds.eased(self._before[pk], book)),
            }
            for pk, book in self.books.items()
            if book != self._read[pk]
        ]
        if data:
            with connection.cursor() as cursor:
                cursor.execute(COUNT, [rows.encode(data)])


COUNT = """
UPDATE workflows_budget b SET used = v.used, reserved = v.reserved, aside = v.aside, "window" = v."window",
  revision = b.revision + v.eased
FROM json_to_recordset(%s::json) AS v(id uuid, used jsonb, reserved jsonb, aside jsonb, "window" timestamptz, eased int)
WHERE b.id = v.id
"""


def owners_of(effect: Effect) -> tuple[str, ...]:
    """`effect` comes with its run, workflow, agent and tool."""
    names = (f"agent:{effect.agent.name}", f"tool:{effect.tool.name}", f"workflow:{effect.run.workflow.name}")
    return (f"run:{effect.run_id}", *names, "all:")


def locked_of(effects: Sequence[Effect], now: dt.datetime) -> Books:
    """What these effects fall under."""
    owners = sorted({owner for effect in effects for owner in owners_of(effect)})
    return Books(fetch(Budget, UNDER + LOCKED, [owners]), now)


def read_of(effects: Sequence[Effect], now: dt.datetime) -> Books:
    """The same as they are at this moment, without locks: for who only asks."""
    return Books(fetch(Budget, UNDER, [sorted({owner for effect in effects for owner in owners_of(effect)})]), now)


def locked_for(effect_ids: Iterable[uuid.UUID], now: dt.datetime) -> Books:
    """What these effects took something of."""
    return Books(fetch(Budget, TAKEN_FROM + LOCKED, [rows.ids(effect_ids)]), now)


UNDER = """
WHERE t.id = ANY (ARRAY(SELECT unnest(b.line) FROM workflows_budget b WHERE b.owner = ANY (%s::text[])))
"""


def line(books: Books, youngest: tuple[int, int], now: dt.datetime) -> dict[uuid.UUID, tuple[int, int]]:
    """By budget the (epoch, ordinal) of the oldest, older than `youngest`, whose turn has come: its window began, or
    there is more than when it was refused; and nobody released it yet."""
    with connection.cursor() as cursor:
        cursor.execute(LINE, [*youngest, rows.ids(books.budgets), now])
        return {budget: (epoch, ordinal) for budget, epoch, ordinal in cursor.fetchall()}


LINE = """
SELECT DISTINCT ON (b.id) b.id, e.epoch, e.ordinal
FROM workflows_effect e CROSS JOIN LATERAL jsonb_array_elements(e.blocked_by) w
JOIN workflows_budget b ON b.id = (w ->> 'budget')::uuid
WHERE e.state = 'blocked' AND e.reason = 'budget' AND (e.epoch, e.ordinal) < (%s, %s) AND b.id = ANY (%s::uuid[])
  AND (e.due_at <= %s OR b.revision <> (w ->> 'revision')::int)
ORDER BY b.id, e.epoch, e.ordinal
"""

TAKEN_FROM = """
WHERE t.id = ANY (ARRAY(SELECT r.budget_id FROM workflows_reservation r WHERE r.effect_id = ANY (%s::uuid[])))
"""
LOCKED = "ORDER BY t.id FOR NO KEY UPDATE"


def reservations(effect_ids: Iterable[uuid.UUID]) -> list[Reservation]:
    return fetch(Reservation, "WHERE t.effect_id = ANY (%s::uuid[]) ORDER BY t.id", [rows.ids(effect_ids)])


def save(changed: Sequence[Reservation]) -> None:
    """Inserts those that are new, and writes over the others; each belongs to a budget that the caller locked."""
    if not changed:
        return
    names = ("id", "budget_id", "effect_id", "subject", "window", "worth", "state", "call", "calls", "open")
    with connection.cursor() as cursor:
        cursor.execute(SAVE, [rows.encode([rows.values(row, names) for row in changed])])


SAVE = """
INSERT INTO workflows_reservation (id, budget_id, effect_id, subject, "window", worth, state, "call", calls, open)
SELECT * FROM json_to_recordset(%s::json) AS v(id uuid, budget_id uuid, effect_id uuid, subject text,
  "window" timestamptz, worth jsonb, state text, "call" jsonb, calls jsonb, open bool)
ON CONFLICT (budget_id, effect_id) DO UPDATE SET "window" = excluded."window", worth = excluded.worth,
  state = excluded.state, "call" = excluded."call", calls = excluded.calls, open = excluded.open
"""


def touched(books: Books, subjects: Iterable[str]) -> set[tuple[uuid.UUID, str]]:
    """Of the budgets that count customers: (budget, subject) of those that are counted already."""
    counting = [pk for pk, book in books.books.items() if spending.CUSTOMERS in book.limits]
    if not counting:
        return set()
    return {(row.budget_id, row.subject) for row in _of_customers(books, counting, subjects)}


def heirs(
    books: Books, given_back: Sequence[Reservation], *, beside: Sequence[Reservation]
) -> dict[tuple[uuid.UUID, str], Reservation]:
    """Another reservation of the same customer, which is to count them from now on; none of those `beside`."""
    if not given_back:
        return {}
    ids = {row.id for row in beside}
    found = _of_customers(books, list({row.budget_id for row in given_back}), {row.subject for row in given_back})
    return {(row.budget_id, row.subject): row for row in found if row.id not in ids}


def _of_customers(books: Books, budgets: list[uuid.UUID], subjects: Iterable[str]) -> list[Reservation]:
    found = fetch(Reservation, OF_CUSTOMERS, [rows.ids(budgets), sorted(set(subjects))])
    return [row for row in found if row.window == books.books[row.budget_id].window]


OF_CUSTOMERS = """
WHERE t.budget_id = ANY (%s::uuid[]) AND t.subject = ANY (%s::text[])
AND t.state <> 'returned' AND jsonb_exists(t.worth, 'effects') ORDER BY t.id
"""


def costs(effects: Iterable[Effect]) -> dict[str, ToolCost]:
    """By tool, what persons set for what isn't known of its acts, and for looks at them."""
    names = sorted({effect.tool.name for effect in effects})
    return {cost.tool: cost for cost in fetch(ToolCost, "WHERE t.tool = ANY (%s)", [names])}
