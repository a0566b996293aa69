"""Money as whole minor units: how many decimals a currency has, and its amounts as people and providers write them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

USUAL = 2
# ISO 4217 currencies whose minor unit isn't a hundredth; the list has changed by one or two codes in ten years.
NONE = ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF")
THREE = ("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND")
FOUR = ("CLF", "UYW")
DECIMALS = {**dict.fromkeys((*NONE, "XPF"), 0), **dict.fromkeys(THREE, 3), **dict.fromkeys(FOUR, 4)}
CODE = re.compile(r"[A-Z]{3}")
AMOUNT = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,10})?")


def decimals(currency: Any) -> int:
    """Raises `ValueError` for what is no code of three capitals."""
    if not isinstance(currency, str) or not CODE.fullmatch(currency):
        raise ValueError(f"{currency!r} is no currency's code of three capitals, such as EUR")
    return DECIMALS.get(currency, USUAL)


def major(amount: Any, currency: str) -> str:
    """1255 KWD -> "1.255": exactly the currency's decimals, no separators."""
    places = decimals(currency)
    if type(amount) is not int:  # a boolean is one too
        raise TypeError(f"{amount!r} is no whole number of minor units")
    sign, digits = ("-" if amount < 0 else ""), str(abs(amount)).rjust(places + 1, "0")
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def minor(amount: Any, currency: str) -> int:
    """ "80.60", 80.6 or 80 USD -> 8060. Raises `ValueError` for more decimals than the currency has, and for "5,800".

    A float is read as the shortest decimal that it is written as, never multiplied."""
    places = decimals(currency)
    text = _written(amount)
    if not isinstance(text, str) or not AMOUNT.fullmatch(text):
        raise ValueError(f"{amount!r} is no plain decimal amount")
    shifted = Decimal(text).scaleb(places)
    if shifted != shifted.to_integral_value():
        raise ValueError(f"{amount!r} has more decimals than {currency} has ({places})")
    return int(shifted)


def whole(amount: Any) -> int:
    """5800, 5800.0 or "5800" -> 5800. Raises `ValueError` for everything else, "5,800" included."""
    text = _written(amount)
    if not isinstance(text, str) or not AMOUNT.fullmatch(text) or Decimal(text) != Decimal(text).to_integral_value():
        raise ValueError(f"{amount!r} is no whole number")
    return int(Decimal(text))


def _written(amount: Any) -> Any:
    return repr(amount) if isinstance(amount, int | float) and not isinstance(amount, bool) else amount


def shown(amount: int, currency: str) -> str:
    """580000 JPY -> "JPY 580,000"; 8060 USD -> "USD 80.60". A code that isn't one is shown with the usual decimals."""
    code = currency if CODE.fullmatch(currency) else "EUR"
    digits, _, cents = major(abs(amount), code).partition(".")
    sign = "-" if amount < 0 else ""
    return f"{currency} {sign}{int(digits):,}{'.' if cents else ''}{cents}"


def floats(value: Any, path: str) -> list[tuple[str, float]]:
    """Every binary float in a JSON value, with its path: no amount travels as one."""
    match value:
        case float():
            return [(path, value)]
        case dict():
            return [found for name, item in value.items() for found in floats(item, f"{path}.{name}")]
        case list():
            return [found for n, item in enumerate(value) for found in floats(item, f"{path}.{n}")]
        case _:
            return []
