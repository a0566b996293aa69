"""Makes text of agents and providers harmless to read: what can't be seen, or turns text around, is shown as a code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Letters and marks that show nothing though their category says otherwise.
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MARKS_IN_A_ROW = 6  # no script stacks more; a pile of them paints over its neighbours

_SPACES = re.compile(r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{4,}")


def parts(text: str, *, block: bool = False) -> Iterator[tuple[bool, str]]:
    """The text in pieces: (False, as it is) and (True, a code for what can't be seen).

    With `block`, line ends, tabs and indentation stay; without, long runs of blanks become a code with their number.
    """
    plain: list[str] = []
    marks = 0
    for char in fold(text, block=block):
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if is_hidden(char, block=block) or marks > MARKS_IN_A_ROW:
            if plain:
                yield False, "".join(plain)
                plain = []
            yield True, code(char)
        else:
            plain.append(char)
    if plain:
        yield False, "".join(plain)


def visible(text: str) -> str:
    """The same as one plain string."""
    return "".join(piece for _, piece in parts(text))


def is_hidden(char: str, *, block: bool = False) -> bool:
    if block and char in "\n\t":
        return False
    point = ord(char)
    if 0xFE00 <= point <= 0xFE0F or 0xE0000 <= point <= 0xE01EF:  # variation selectors, tags
        return True
    return char in BLANKS or unicodedata.category(char) in HIDDEN


def fold(text: str, *, block: bool) -> str:
    """Blanks in a row push what follows out of sight; a code keeps it in sight."""
    if block:
        return re.sub(r" {40,}", lambda m: f"[{len(m.group())} spaces]", text)
    return _SPACES.sub(lambda m: f" [{len(m.group())} spaces] ", text)


def code(char: str) -> str:
    return f"[U+{ord(char):04X}]"
