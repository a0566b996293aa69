"""The arithmetic of budgets, without a database."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from workflows.policies import holds, spending
from workflows.policies.spending import Book, short_of

NOON = dt.datetime(2026, 3, 1, 12, 30, 40, tzinfo=dt.UTC)
DECLARED = {"amount": "${ args.amount }", "currency": "EUR"}


@pytest.mark.parametrize(
    ("value", "declared", "worst", "money"),
    [
        ({"amount": 4999, "currency": "EUR"}, DECLARED, {}, {"EUR": 4999}),
        ({"amount": 0, "currency": "EUR"}, DECLARED, {}, {"EUR": 0}),
        ({"amount": -300, "currency": "EUR"}, DECLARED, {}, {"EUR": 300}),
        ({"amount": 10, "currency": "USD"}, DECLARED, {}, {"USD": 10}),
        (None, DECLARED, {}, {"EUR": 5000}),  # all that is allowed
        (None, DECLARED, {"EUR": 700}, {"EUR": 700}),
        (None, {**DECLARED, "currency": "GBP"}, {}, {"GBP": 1}),  # of which nothing is allowed: never zero
        (None, {**DECLARED, "currency": "${ args.currency }"}, {}, {"EUR": 5000, "USD": 50}),
        ({"amount": True, "currency": "EUR"}, DECLARED, {}, {"EUR": 5000}),
        ({"amount": 5, "currency": "euro"}, DECLARED, {}, {"EUR": 5000}),
        (None, None, {}, {}),
        (None, None, {"EUR": 20}, {"EUR": 20}),
    ],
)
def test_a_cost_that_is_not_known_is_the_worst_and_never_nothing(
    value: Any, declared: Any, worst: dict[str, int], money: dict[str, int]
) -> None:
    assert spending.money_of(value, declared, worst, {"EUR": 5000, "USD": 50, "calls": 3}) == money


def test_money_of_a_currency_that_the_budget_does_not_name_is_none_at_all() -> None:
    short = short_of(Book({"EUR": 5000}), {"USD": 1}, NOON)
    assert short is not None
    assert (short.unit, short.limit, short.waits) == ("USD", 0, "person")
    assert short_of(Book({"calls": 1}), {"USD": 10**9, "calls": 1}, NOON) is None, "money isn't limited here"


@pytest.mark.parametrize(
    ("taken", "need", "waits"),
    [
        ({}, {"EUR": 4999}, None),
        ({"used": {"EUR": 1}}, {"EUR": 4999}, None),  # 1 + 4,999 = 5,000
        ({"used": {"EUR": 2}}, {"EUR": 4999}, "person"),
        ({"reserved": {"EUR": 4999}}, {"EUR": 4999}, "settling"),  # it may come back
        ({"used": {"EUR": 4000}, "reserved": {"EUR": 900}}, {"EUR": 1001}, "person"),
        ({"reserved": {"EUR": 1}}, {"EUR": 5001}, "person"),  # more than there ever is
        ({"used": {"EUR": 9000}}, {"EUR": 0}, None),  # what costs nothing fits wherever
    ],
)
def test_what_is_reserved_counts_like_what_is_used(taken: Any, need: dict[str, int], waits: str | None) -> None:
    short = short_of(Book({"EUR": 5000}, **taken), need, NOON)
    assert (short.waits if short else None) == waits


def test_a_window_begins_with_nothing_taken_and_ends_by_the_calendar() -> None:
    book = Book({"calls": 1}, used={"calls": 1}, per="hour", window=NOON.replace(hour=11, minute=0, second=0))
    spending.roll(book, NOON)
    assert (book.used, book.window) == ({}, NOON.replace(minute=0, second=0))
    book.used = {"calls": 1}
    spending.roll(book, NOON - dt.timedelta(hours=1))
    assert book.used == {"calls": 1}, "a worker that read the clock before the hour changes nothing"
    short = short_of(book, {"calls": 1}, NOON)
    assert short is not None
    assert (short.waits, short.until) == ("window", NOON.replace(hour=13, minute=0, second=0))
    short = short_of(book, {"calls": 2}, NOON)
    assert short is not None
    assert short.waits == "person", "no window will ever be large enough"


@pytest.mark.parametrize(
    ("state", "world", "was", "then"),
    [
        ("dispatched", "unknown", "held", "held"),
        ("unknown", "unknown", "held", "held"),
        ("acknowledged", "unknown", "held", "spent"),
        ("verified", "present", "held", "spent"),
        ("undone", "gone", "spent", "spent"),
        ("failed", "nothing", "held", "returned"),
        ("cancelled", "nothing", "held", "returned"),
        ("stuck", "unknown", "held", "held"),
        ("stuck", "differs", "held", "spent"),
        ("stuck", "nothing", "held", "held"),
        ("written_off", "nothing", "held", "returned"),
        ("written_off", "unknown", "held", "spent"),
        ("ready", "nothing", "held", "held"),
        ("blocked", "nothing", "returned", "returned"),
        # A late yes contradicts what was given back.
        ("stuck", "unknown", "returned", "held"),
        ("stuck", "present", "returned", "spent"),
    ],
)
def test_only_what_is_proved_to_have_done_nothing_is_given_back(state: str, world: str, was: str, then: str) -> None:
    assert holds.worth_after(state, world, was) == then
