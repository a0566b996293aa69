"""A case's page tells that it is open and worked on, and is told what changed, who else looks, who holds it now."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from repairs import presence, worked
from repairs.views import live
from repairs.views.acts import whole
from repairs.views.case import find
from repairs.views.queue import holder_of
from repairs.views.screen import act, at_desk
from workflows.errors import Invalid


@act
def here(request: HttpRequest, number: int) -> HttpResponse:
    """`as_of`, `fence`: what the page shows; `active`: somebody typed or pointed since it last told; `said`: the tag of
    what it was told last, which isn't said twice."""
    case, user, now = find(request, number), at_desk(request).user, timezone.now()
    try:
        fence = whole(request, "fence")
    except Invalid:
        return HttpResponse(status=400)
    presence.note(case, user)
    if request.POST.get("active"):
        presence.renew(case, user, fence, now)
        if case.holder_at(now) == user.pk:
            worked.note(case.id, user.pk)
    holder = case.holder_at(now)
    told = {
        "now": now,
        "at": live.page_of(request),
        "case": case,
        "others": presence.others(case, user, now),
        "changed": request.POST.get("as_of") != case.as_of,
        "taken": holder_of(case, now) if holder != user.pk and fence != case.fence else "",
    }
    answer = render(request, "console/_case_here.html", told)
    answer.headers["ETag"] = tag = live.tag_of(answer.content.decode())
    return HttpResponse(status=204) if request.POST.get("said") == tag else answer


@act
def known(request: HttpRequest, number: int) -> HttpResponse:
    """They have read that the case was taken over."""
    case = find(request, number)
    presence.known(case.id, at_desk(request).user)
    return redirect("case", number=case.number)
