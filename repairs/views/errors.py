"""What is shown in place of a page, in the console's frame: not found, not allowed, too large, broken, and the like."""

from __future__ import annotations

import dataclasses
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.template.loader import render_to_string

from repairs.desk import desk_of
from repairs.site import frame
from repairs.views import live
from repairs.words.marked import _


@dataclasses.dataclass(frozen=True, slots=True)
class Words:
    title: str
    says: str


BAD = Words(_("That address isn't whole"), _("A part of it was cut or changed on the way; nothing was done."))
LARGE = Words(
    _("That is more than is taken"), _("Nothing was done. Shorten what you typed, or keep it elsewhere and say where.")
)
DENIED = Words(_("You may not do that"), _("Nothing was done. An operator can give you the role it takes."))
STALE = Words(
    _("This form is too old, or came from elsewhere"),
    _("Nothing was done. Go back, copy your text, load the page anew, and send it again."),
)
MISSING = Words(_("There is no such page"), _("The address may be cut, or what it named was never here."))
AN_ACT = Words(
    _("That is an act, not a page"),
    _("Nothing was done. Acts are sent from the page that shows what they do; go back to it."),
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return shown(request, LARGE, status=413)
    own = str(exception) if type(exception) is SuspiciousOperation else ""  # Django's kinds tell of its insides
    return shown(request, BAD, status=400, detail=own)


def denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return shown(request, DENIED, status=403, detail=exception.args[0] if exception.args else "")


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """In place of Django's own page where the form's token doesn't fit. A page that asks for news by one is told."""
    if live.asked_by(request):
        return live.logged_in_since(request) if desk_of(request) else live.logged_out(request)
    return shown(request, STALE, status=403)


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The same words for what never was and for what somebody else's is."""
    return shown(request, MISSING, status=404)


def an_act(request: HttpRequest, methods: list[str]) -> HttpResponse:
    answer = HttpResponseNotAllowed(methods, shown(request, AN_ACT, status=405).content)
    answer["Content-Type"] = "text/html; charset=utf-8"
    return answer


def broken(request: HttpRequest) -> HttpResponse:
    """Asks nothing of the database, which may be what broke: who is here isn't known, and no figure is shown."""
    return HttpResponse(render_to_string("console/broken.html", {"nobody_known": True}), status=500)


def shown(request: HttpRequest, words: Words, *, status: int, detail: str = "") -> HttpResponse:
    context: dict[str, Any] = frame(request) if hasattr(request, "user") else {}
    return render(request, "console/error.html", {**context, "words": words, "detail": detail}, status=status)
