"""The check question before something that can't be undone: which value will be sent, among others near it. Pure.

It asks for what the call says, so that nobody approves without having read it. The wrong answers are made from the
right one, the same at every look at the page.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Mapping
from typing import Any

from repairs.words.marked import _
from workflows.visible import visible

CHOICES = 3
TRIES = 40  # until enough different ones are found; a text of one character may not have them
LONGEST = 120  # characters of a choice on the page


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`choices`: what is sent with the form, and what a person reads. The right one is `answer`."""

    ask: str
    choices: tuple[tuple[str, str], ...]
    answer: str


def check(question: Mapping[str, Any] | None, digest: str) -> Check | None:
    """From {"ask": the argument's name, "answer": its value as text}; None where nothing is to be asked."""
    if not question or not question.get("answer"):
        return None
    right = str(question["answer"])
    chance = random.Random(digest)  # noqa: S311  a steady shuffle of choices, no secret
    wrong: list[str] = []
    for _try in range(TRIES):
        if len(wrong) == CHOICES - 1:
            break
        if (other := near(right, chance)) not in (right, *wrong) and visible(other) != visible(right):
            wrong.append(other)
    answers = [right, *wrong]
    chance.shuffle(answers)
    return Check(
        ask=_("What is {name}?", name=question["ask"]),
        choices=tuple((token(answer, digest), answer[:LONGEST]) for answer in answers),
        answer=token(right, digest),
    )


def token(answer: str, digest: str) -> str:
    """What the form carries: not the value, which may be long and hold anything."""
    return hashlib.sha256(f"{digest}:{answer}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def near(text: str, chance: random.Random) -> str:
    """Another value of the same kind: one digit or letter differs, or two stand the other way round."""
    places = [index for index, char in enumerate(text) if char.isascii() and char.isalnum()]
    if not places:
        return text + chance.choice("abcxyz")
    index = chance.choice(places)
    char = text[index]
    if char.isdigit():
        first = index == places[0] and not text[:index].strip("-")
        pool = [digit for digit in "0123456789" if digit != char and not (first and digit == "0")]
    else:
        pool = [letter for letter in "abcdefghiklmnoprstuvw" if letter != char.lower()]
    other = chance.choice(pool)
    return text[:index] + (other.upper() if char.isupper() else other) + text[index + 1 :]
