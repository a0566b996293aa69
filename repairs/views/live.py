"""What a page is answered that htmx asks for news: nothing new, a part of it, or that it is to be loaded anew."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.urls import Resolver404, resolve
from django.utils.cache import patch_vary_headers
from django.utils.http import quote_etag
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh, retarget
from django_htmx.middleware import HtmxDetails

from workflows.api import headers

LAST = 286  # htmx asks no more


def asked_by(request: HttpRequest) -> HtmxDetails:
    """False where it wasn't htmx."""
    details: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    return details


def tag_of(text: str) -> str:
    return quote_etag(hashlib.sha256(text.encode()).hexdigest()[:32])


def part(request: HttpRequest, text: str, *, tag: str = "", last: bool = False) -> HttpResponse:
    """304 where the page shows it already. `tag`: of what it tells, if not of its text; `last`: it changes no more."""
    tag = tag or tag_of(text)
    answer = HttpResponse(text, headers={"ETag": tag, "Vary": "HX-Request"})
    if last and asked_by(request):
        answer.status_code = LAST
        return answer
    return unless_known(request, answer)


def unless_known(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """304 where one has it, whatever a proxy that compresses made of its tag on the way."""
    tag = answer.headers["ETag"]
    if not headers.matches(tag, headers.known_tags(request)):
        return answer
    kept = {name: answer.headers[name] for name in ("ETag", "Vary") if name in answer.headers}
    return HttpResponseNotModified(headers=kept)


def anew(request: HttpRequest, page: str) -> HttpResponse:
    """What may be done is another than what the page offers. One that answered a form isn't loaded anew, which would
    send the form again: `page` is opened in its place."""
    at = asked_by(request).current_url_abs_path or ""
    answer = HttpResponseClientRefresh() if at.partition("?")[0] == page else HttpResponseClientRedirect(page)
    patch_vary_headers(answer, ["HX-Current-URL"])
    return answer


def logged_out(request: HttpRequest) -> HttpResponse:
    """Said above the page, which stays as it is; never the login page in the place of a part."""
    return above(request, "console/_logged_out_here.html", {"at": page_of(request)})


def logged_in_since(request: HttpRequest) -> HttpResponse:
    """Said above a page whose forms were made for a session that is over, of them or of whoever was here before."""
    user = request.user
    other = user.get_username() if request.POST.get("who") != str(user.pk) else ""
    return above(request, "console/_logged_in_since.html", {"at": page_of(request), "other": other})


def above(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Once: a page that was told it says so, a form in its field `out`."""
    answer = render(request, template, context)
    tag = answer.headers["ETag"] = tag_of(answer.content.decode())
    if request.method == "POST":
        return retarget(
            HttpResponse(status=204, headers={"ETag": tag}) if request.POST.get("out") == tag else answer, "#told"
        )
    return retarget(unless_known(request, answer), "#told")


def page_of(request: HttpRequest) -> str:
    """Where one asks for news from, or sent a form from, to come back to. A form that was answered by a page stays in
    the window with its act's address, which opens nothing: it stood on the page above it, or on the one whose news are
    asked for."""
    asked = asked_by(request)
    at = (asked and asked.current_url_abs_path) or referred(request)
    whole = at.partition("?")[0]
    places = at, whole.rpartition("/")[0], request.path.rpartition("/")[0] + "/"
    return next((place for place in places if is_page(place.partition("?")[0])), "/")


def referred(request: HttpRequest) -> str:
    """The address of ours that a browser says it comes from; "" where it says none."""
    try:
        at = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return ""
    return urlunsplit(("", "", at.path, at.query, "")) if at.netloc == request.get_host() else ""


def is_page(path: str) -> bool:
    try:
        return "GET" in getattr(resolve(path).func, "methods", ())
    except Resolver404:
        return False
