"""How pages say how a send ended, and what a stop holds."""

from __future__ import annotations

from django import template

from repairs.words import terms, traits
from workflows.models import Stop

register = template.Library()


@register.filter
def ended(outcome: str) -> str:
    """The outcome of a send."""
    return traits.END_WORDS.get(outcome, outcome)


@register.filter
def on(stop: Stop) -> str:
    return terms.on(stop.target, stop.name)
