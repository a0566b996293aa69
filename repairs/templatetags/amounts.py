"""Amounts of a budget as people write them: money by its currency, time in seconds, counts in groups of digits."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from repairs.templatetags.console import money
from repairs.words.marked import _
from repairs.words.purse import Line

register = template.Library()


@register.filter
def amount(line: Line, which: str) -> SafeString:
    """`which`: limit, used, reserved, left or aside."""
    number = getattr(line, which)
    if number is None:
        return format_html('<span class="none">{}</span>', _("no limit"))
    if line.currency:
        return money({"amount": number, "currency": line.currency})
    if line.timed:
        return format_html("{} s", f"{number / 1000:,.3f}".rstrip("0").rstrip("."))
    return format_html("{}", f"{number:,}")
