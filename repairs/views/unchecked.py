"""The list of what could not be checked, which home's figures open: nothing of it counts as fine."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from repairs.unchecked import MOST, unchecked
from repairs.views.screen import at_desk, screen, show

LONGEST = 200  # characters of a tool's name


@screen
def unchecked_page(request: HttpRequest) -> HttpResponse:
    """`?system=`: what stands before the dot in the names of its tools."""
    system = request.GET.get("system", "").strip()
    if len(system) > LONGEST or "\x00" in system:
        raise Http404("There is no such system.")
    now = timezone.now()
    rows = unchecked(at_desk(request), now, system)
    return show(
        request,
        "console/unchecked.html",
        here="home",
        now=now,
        rows=rows,
        system=system,
        most=MOST,
    )
