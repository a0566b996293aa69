"""Texts for readers, marked for translators. Words know no Django: whoever shows one says it in another language."""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Callable, Mapping, Sequence

NUMBER = "count"  # which one form of a language may leave out: "one case"


class Phrase(str):
    """English wherever it is stored, sent or compared, because it is a str; what it is made of stays known, so that a
    page can say it in the reader's language. A template does that by itself; `said` does it elsewhere.

    Whatever makes another text of it (+, an f-string, a slice) is plain English. Values are put in by name."""

    __slots__ = ("many", "msgid", "number", "values")
    msgid: str
    many: str
    number: int
    values: Mapping[str, object]

    def __new__(
        cls, text: str, msgid: str = "", values: Mapping[str, object] | None = None, *, many: str = "", number: int = 1
    ) -> Phrase:
        self = super().__new__(cls, text)
        self.msgid, self.many, self.number, self.values = msgid or text, many, number, values or {}
        return self

    def given(self, **values: object) -> Phrase:
        """With its blanks filled in: for a phrase that is kept in a table."""
        return _(self.msgid, **values)

    def __html__(self) -> str:
        return html.escape(said(self))


def _(msgid: str, **values: object) -> Phrase:
    """Marks a text, a literal as translators' tools find it, and puts in what it names in braces."""
    return Phrase(msgid.format(**values) if values else msgid, msgid, values)


def ngettext(one: str, many: str, count: int, **values: object) -> Phrase:
    """The same of a number, `{count}` in the text: languages have other forms than one and many."""
    values = {"count": count, **values}
    return Phrase((one if count == 1 else many).format(**values), one, values, many=many, number=count)


def listed(parts: Sequence[str]) -> str:
    """Several as one: another language may have another sign between."""
    return functools.reduce(lambda first, rest: _("{first}, {rest}", first=first, rest=rest), parts) if parts else ""


def said(text: str) -> str:
    """In the language of whoever reads now. A translation whose blanks don't fit is passed over: English is better than
    no page, and than a sentence that keeps a value back."""
    if not isinstance(text, Phrase) or not text:
        return text
    found = _speech.several(text.msgid, text.many, text.number) if text.many else _speech.one(text.msgid)
    if not text.values:
        return found
    if any(f"{{{name}" in text.msgid and f"{{{name}" not in found for name in text.values if name != NUMBER):
        return str(text)
    values = {name: said(value) if isinstance(value, str) else value for name, value in text.values.items()}
    try:
        return found.format(**values)
    except (LookupError, ValueError, AttributeError, TypeError):
        return str(text)


@dataclasses.dataclass(slots=True)
class Speech:
    """How a text is said, and one of a number: English, until the app that knows Django gives gettext and ngettext."""

    one: Callable[[str], str]
    several: Callable[[str, str, int], str]


_speech = Speech(str, lambda one, many, count: one if count == 1 else many)


def speaks(one: Callable[[str], str], several: Callable[[str, str, int], str]) -> None:
    _speech.one, _speech.several = one, several
