"""Money is whole minor units: nothing is multiplied as a float, and each currency has its own decimals."""

from __future__ import annotations

from typing import Any

import pytest

from workflows import money
from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError


@pytest.mark.parametrize(
    ("minor", "currency", "major", "people"),
    [
        (5800, "JPY", "5800", "JPY 5,800"),
        (1255, "KWD", "1.255", "KWD 1.255"),
        (8060, "USD", "80.60", "USD 80.60"),
        (5, "EUR", "0.05", "EUR 0.05"),
        (-100, "HUF", "-1.00", "HUF -1.00"),
        (123456789, "CLF", "12345.6789", "CLF 12,345.6789"),
    ],
)
def test_an_amount_is_written_with_its_currencys_own_decimals(
    minor: int, currency: str, major: str, people: str
) -> None:
    assert (money.major(minor, currency), money.minor(major, currency)) == (major, minor)
    assert money.shown(minor, currency) == people


@pytest.mark.parametrize("amount", [80.6, "80.60", "80.6"])
def test_a_float_is_read_as_it_is_written_and_never_multiplied(amount: Any) -> None:
    assert int(80.6 * 100) == 8059, "the trap"
    assert money.minor(amount, "USD") == 8060


@pytest.mark.parametrize(
    ("source", "value"),
    [("whole(x)", v) for v in (5800, 5800.0, "5800")] + [("minor(x, 'JPY')", v) for v in ("5800", 5800)],
)
def test_the_forms_in_which_providers_say_5800_yen_are_one(source: str, value: Any) -> None:
    assert expressions.compile(source, ("x",)).run({"x": value}) == 5800


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("whole(x)", "5,800"),
        ("whole(x)", 5800.5),
        ("whole(x)", True),
        ("minor(x, 'JPY')", "5,800"),
        ("minor(x, 'JPY')", "58.5"),
        ("minor(x, 'eur')", "1"),
        ("major(x, 'EUR')", 1.5),
    ],
)
def test_what_is_no_exact_amount_is_an_error_and_no_guess(source: str, value: Any) -> None:
    with pytest.raises(ExpressionError):
        expressions.compile(source, ("x",)).run({"x": value})
