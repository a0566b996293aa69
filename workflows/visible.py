"""Makes text of agents and providers harmless to read: what can't be seen, or turns text around, is shown as a code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

# Letters and marks that show nothing though their category says otherwise.
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MARKS_IN_A_ROW = 6  # no script stacks more; a pile of them paints over its neighbours

Piece = tuple[bool, str]  # (whether it is a code for what can't be seen, its text)

# Blanks in a row push what follows out of sight; a code with their number keeps it in sight.
_SPACE = r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_IN_A_LINE = re.compile(_SPACE + "{4,}")
_IN_A_BLOCK = re.compile(rf"(?:{_SPACE}|\t){{40,}}|(?:(?:{_SPACE}|\t){{0,39}}\n){{5,}}")
_STRETCH = re.compile(r"[\x20-\x7e]+|.", re.DOTALL)


def parts(text: str, *, block: bool = False) -> Iterator[Piece]:
    """The text in pieces: (False, as it is) and (True, a code for what can't be seen).

    With `block`, line ends, tabs and indentation stay, up to where a run of them would hide what follows.
    """
    at = 0
    for run in (_IN_A_BLOCK if block else _IN_A_LINE).finditer(text):
        yield from _marked(text[at : run.start()], block=block)
        yield False, "\n" if block else " "
        yield True, blanks(run.group())
        yield False, "\n" if block else " "
        at = run.end()
    yield from _marked(text[at:], block=block)


def blanks(run: str) -> str:
    lines = run.count("\n")
    return f"[{lines} line ends]" if lines else f"[{len(run)} spaces]"


def _marked(text: str, *, block: bool) -> Iterator[Piece]:
    plain: list[str] = []
    marks = 0
    for stretch in _STRETCH.findall(text):
        if len(stretch) > 1 or " " <= stretch <= "~":
            plain.append(stretch)
            marks = 0
            continue
        marks = marks + 1 if unicodedata.category(stretch) in ("Mn", "Me") else 0
        if is_hidden(stretch, block=block) or marks > MARKS_IN_A_ROW:
            if plain:
                yield False, "".join(plain)
                plain = []
            yield True, code(stretch)
        else:
            plain.append(stretch)
    if plain:
        yield False, "".join(plain)


def up_to(limit: int, pieces: Iterable[Piece]) -> tuple[list[Piece], bool]:
    """The pieces of which `limit` characters are seen, and whether something was left out."""
    taken: list[Piece] = []
    room = limit
    for hidden, piece in pieces:
        if room <= 0:
            return taken, True
        if len(piece) > room and not hidden:
            return [*taken, (False, piece[:room])], True
        taken.append((hidden, piece))
        room -= len(piece)
    return taken, False


def hidden_in(text: str, *, block: bool = False) -> int:
    """How many codes the text is shown with: what a reader would not have seen."""
    return sum(hidden for hidden, _ in parts(text, block=block))


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


def code(char: str) -> str:
    return f"[U+{ord(char):04X}]"
