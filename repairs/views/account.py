"""A person's own account: password, second factor, and the zone of their times. Secrets are shown once."""

from __future__ import annotations

from typing import Any

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs.acts import proof, second_factor
from repairs.models import Person, SecondFactor
from repairs.views.acts import STATUS
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words import clock
from repairs.words.marked import _
from workflows.errors import Flaw, Invalid, MakegoodError

QUIET_ZONE = 4  # modules around the code that must be empty for a camera to find it


@screen
def account(request: HttpRequest) -> HttpResponse:
    return page(request)


@act
def begin(request: HttpRequest) -> HttpResponse:
    """The password is asked for first: who finds a session open doesn't bind their own phone to it."""
    user = at_desk(request).user
    try:
        proof.password(request, at_desk(request))
        secret = second_factor.begin(user)
    except MakegoodError as error:
        return refusal(request, error)
    in_fours = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    return page(request, secret=in_fours, **picture(second_factor.address(user, secret)))


@act
def confirm(request: HttpRequest) -> HttpResponse:
    desk = at_desk(request)
    try:
        codes = second_factor.confirm(desk.user, request.POST.get("code", ""))
    except MakegoodError as error:
        return refusal(request, error, begun=True)
    factor = SecondFactor.objects.get(user=desk.user)
    proof.proved(request.session, factor=factor.pk)
    return page(request, factor=factor, codes=codes)


@act
def remove(request: HttpRequest) -> HttpResponse:
    try:
        second_factor.remove(at_desk(request).user, request.POST.get("code", ""))
    except MakegoodError as error:
        return refusal(request, error)
    tell(request, _("Your second factor is removed; its codes count no more."))
    return redirect("account")


@act
def zone(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("zone", "").strip()
    if name not in clock.names():
        flaw = Flaw("zone", name, _("is no zone of places; write one like Europe/Berlin, or UTC"))
        return refusal(request, Invalid(_("Your times stay as they were."), [flaw]), typed_zone=name)
    Person.objects.update_or_create(user=at_desk(request).user, defaults={"zone": name})
    tell(request, _("Times are shown as those of {zone}.", zone=name))
    return redirect("account")


def refusal(request: HttpRequest, error: MakegoodError, **context: Any) -> HttpResponse:
    return page(request, status=STATUS.get(type(error), 400), error=error, **context)


def page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    """`secret`, `codes`: what is shown in this one answer."""
    factor = SecondFactor.objects.filter(user=at_desk(request).user, confirmed_at__isnull=False).first()
    return show(
        request,
        "console/account.html",
        here="account",
        status=status,
        roles=sorted(at_desk(request).roles),
        zones=clock.names(),
        **{"factor": factor, "required": settings.SECOND_FACTOR == "required", "error": None, **context},
    )


def picture(text: str) -> dict[str, Any]:
    """The code's modules as one path, which a strict content policy lets through."""
    rows = segno.make(text, error="m").matrix
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
    side = len(rows) + 2 * QUIET_ZONE
    return {"path": path, "box": f"-{QUIET_ZONE} -{QUIET_ZONE} {side} {side}"}
