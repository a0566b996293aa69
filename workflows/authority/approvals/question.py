"""Which value an approver of something that can't be undone has to name: money first, then who gets it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LONGEST = 120  # characters of a value that somebody is asked about: it must fit a line
MONEY = ("amount", "value", "total", "sum", "price")
RECEIVER = ("to", "recipient", "receiver", "account", "iban", "address", "email", "customer", "beneficiary", "payee")


def question_of(
    effect_class: str, arguments: Mapping[str, Any], targets: Sequence[Mapping[str, Any]] = ()
) -> dict[str, str] | None:
    """{"ask": path, "answer": its value as text}; None for what can be undone, or where no value fits a line.

    `targets`: what the effect is aimed at, as its tool's manifest declares it."""
    if effect_class != "irreversible":
        return None
    plain = list(values(arguments, ""))
    if not plain:
        return None
    aimed = frozenset(str(target.get("value")) for target in targets)
    path, text = min(plain, key=lambda one: (rank(one[0], one[1], aimed), one[0]))
    return {"ask": path, "answer": text}


def rank(path: str, text: str, aimed: frozenset[str]) -> int:
    names = path.lower().split(".")
    if names[-1] in MONEY:
        return 0
    return 1 if text in aimed or any(name in RECEIVER for name in names) else 2


def values(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Texts and whole numbers that fit a line, by their paths."""
    match value:
        case dict():
            for name, item in value.items():
                yield from values(item, f"{path}.{name}" if path else str(name))
        case list():
            for number, item in enumerate(value):
                yield from values(item, f"{path}.{number}" if path else str(number))
        case str() if len(value.strip()) > 0 and len(value) <= LONGEST and value.isprintable():
            yield path, value
        case int() if not isinstance(value, bool):
            yield path, str(value)
        case _:
            return  # too long, a fraction, true, null: nothing that one could ask for in a line
