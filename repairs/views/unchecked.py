"""The list of what could not be checked, which home's figures open: nothing of it counts as fine."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from repairs import keyset
from repairs.unchecked import ORDER, unchecked
from repairs.views.screen import at_desk, screen, show

LONGEST = 200  # characters of a tool's name
HEAVY = (
    "arguments", "result", "before", "poll", "reads", "origin", "targets", "scopes", "tool__spec", "step__template",
    "step__arguments", "step__result", "run__input", "run__residue", "run__people_reasons", "run__narrowed",
)  # fmt: skip


@screen
def unchecked_page(request: HttpRequest) -> HttpResponse:
    """`?system=`: what stands before the dot in the names of its tools. `?after=` is the cursor; the oldest first."""
    system = request.GET.get("system", "").strip()
    if len(system) > LONGEST or "\x00" in system:
        raise Http404("There is no such system.")
    of = f"unchecked:{system}"
    start = keyset.read(request.GET.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    found = unchecked(at_desk(request), system).select_related("tool", "step", "run").defer(*HEAVY)
    page = keyset.page(found, order=ORDER, of=of, at=at, after=after)
    return show(request, "console/unchecked.html", here="home", now=timezone.now(), page=page, system=system)
