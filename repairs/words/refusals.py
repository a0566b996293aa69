"""A refusal as a page says it: what was refused, and what is wrong with each field. Programs get the error's own."""

from __future__ import annotations

from repairs.words.marked import Phrase, _, said
from workflows.errors import Flaw, MakegoodError, shown


def refusal(error: MakegoodError) -> str:
    """In the language of whoever reads now."""
    return " ".join(said(text) for text in (error.detail, *map(flawed, error.flaws)))


def flawed(flaw: Flaw) -> Phrase:
    return _("{path}: {message} (here: {value})", path=flaw.path, message=flaw.message, value=shown(flaw.value))
