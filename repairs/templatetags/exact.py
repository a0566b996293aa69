"""Filters of the approvals and policies pages: foreign text that a view has made into pieces, and lines of source."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from repairs.templatetags.console import pieces
from workflows.visible import Piece, parts, up_to

register = template.Library()


@register.filter
def shown(given: Iterable[Piece]) -> SafeString:
    """Pieces of a foreign text: what can't be seen as codes, the rest escaped."""
    return pieces(given)


@register.filter
def source(line: str, limit: int = 300) -> SafeString:
    """A line of a program: its indentation stays, what can't be seen is shown, and it is cut."""
    shown_, cut = up_to(limit, parts(line, block=True))
    return format_html("<bdi>{}{}</bdi>", pieces(shown_), "…" if cut else "")


@register.filter
def named(names: dict[str, str], name: str) -> str:
    """The title of a view."""
    return names.get(name, name)
