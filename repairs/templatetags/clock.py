"""Deadlines as clocks: how long is left, or how long it is over. `static/console/clock.js` lets them go on."""

from __future__ import annotations

import datetime as dt

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400


@register.filter
def clock(value: dt.datetime, now: dt.datetime) -> SafeString:
    """ "0:18 left", "3:10 left", "0:40 over", "2 d 4 h left"."""
    seconds = int((value - now).total_seconds())
    iso = value.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return format_html('<time datetime="{}" title="{}" data-clock="{}">{}</time>', iso, iso, seconds, said(seconds))


def said(seconds: int) -> str:
    """Whole minutes; what is left is never rounded up, so that nobody counts on a minute that isn't there."""
    size = abs(seconds)
    days, hours = f"{size // DAY} d {size % DAY // HOUR} h", f"{size // HOUR}:{size % HOUR // MINUTE:02d}"
    return f"{days if size >= DAY else hours} {'left' if seconds >= 0 else 'over'}"
