"""Deadlines as clocks: how long is left, or how long it is over. `static/console/clock.js` lets them go on."""

from __future__ import annotations

import datetime as dt

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from repairs.words.marked import Phrase, _

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400


@register.filter
def clock(value: dt.datetime, now: dt.datetime) -> SafeString:
    """ "0:18 left", "3:10 left", "0:40 over", "2 d 4 h left"."""
    seconds = int((value - now).total_seconds())
    iso = value.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    marked = format_html('datetime="{}" title="{}" data-clock="{}"', iso, iso, seconds)
    forms = format_html('data-left="{}" data-over="{}"', LEFT, OVER)
    return format_html("<time {} {}>{}</time>", marked, forms, said(seconds))


LEFT, OVER = _("{span} left"), _("{span} over")


@register.filter
def still(value: dt.datetime, now: dt.datetime) -> Phrase:
    """The same of what doesn't come nearer."""
    return said(int((value - now).total_seconds()))


def said(seconds: int) -> Phrase:
    """Whole minutes; what is left is never rounded up, so that nobody counts on a minute that isn't there."""
    size = abs(seconds)
    days, hours = f"{size // DAY} d {size % DAY // HOUR} h", f"{size // HOUR}:{size % HOUR // MINUTE:02d}"
    return (LEFT if seconds >= 0 else OVER).given(span=days if size >= DAY else hours)
