"""Messages to customers to begin from: texts with named blanks, which are filled in once and never evaluated. Pure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from repairs.words.marked import _
from workflows.visible import is_hidden

BLANK = re.compile(r"\{([a-z]+)\}")
LONGEST = 300  # characters of what fills one blank
SUBJECTS = ("subject", "title")
TEXTS = ("text", "body", "message", "content")  # names of arguments that take a message
BLANKS = ("customer", "case", "what", "reference")


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    title: str  # for whoever chooses
    subject: str
    text: str


MESSAGES = {
    "looking": Message(
        _("We are looking into it"),
        "We are looking into something that went wrong ({case})",
        "Hello {customer},\n\nsomething went wrong on our side, and we are looking into it: {what}\n\n"
        "You need to do nothing. We write again when we know what happened. Please name {case} if you write to us.\n",
    ),
    "twice": Message(
        _("It happened twice; we put it right"),
        "Something was done twice, and we put it right ({case})",
        "Hello {customer},\n\nby our mistake this was done more than once: {what}\n\n"
        "We take the second one back. You need to do nothing; if you see both still in three days, please write to us "
        "and name {case}.\n",
    ),
    "undone": Message(
        _("It could not be finished and was taken back"),
        "What you asked for could not be finished ({case})",
        "Hello {customer},\n\nwe could not finish what you asked for, and took back what was begun. What may remain: "
        "{what}\n\nWe are sorry for the trouble. Please name {case} if you write to us.\n",
    ),
}


def takes_message(names: Mapping[str, object]) -> bool:
    """Whether a tool with these arguments carries a text to somebody."""
    return any(name in names for name in TEXTS)


def filled(message: Message, blanks: Mapping[str, str], names: Mapping[str, object]) -> dict[str, str]:
    """The message by the tool's own names for subject and text. What fills a blank is data: it is bounded, without
    hidden characters, and blanks in it stay as they are."""
    said = {name: _plain(blanks.get(name, "")) for name in BLANKS}
    found = {}
    for names_of, text in ((SUBJECTS, message.subject), (TEXTS, message.text)):
        name = next((one for one in names_of if one in names), None)
        if name is not None:
            found[name] = BLANK.sub(lambda blank: said.get(blank[1], blank[0]), text)
    return found


def _plain(text: str) -> str:
    seen = "".join(" " if c.isspace() else c for c in text if c.isspace() or not is_hidden(c))
    line = " ".join(seen.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
