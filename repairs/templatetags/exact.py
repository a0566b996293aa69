"""Filters of the approvals pages: foreign text that a view has made into pieces, and titles of views."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.safestring import SafeString

from repairs.templatetags.console import pieces
from workflows.visible import Piece

register = template.Library()


@register.filter
def shown(given: Iterable[Piece]) -> SafeString:
    """Pieces of a foreign text: what can't be seen as codes, the rest escaped."""
    return pieces(given)


@register.filter
def named(names: dict[str, str], name: str) -> str:
    """The title of a view."""
    return names.get(name, name)
