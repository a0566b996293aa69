"""What every screen shares: who may see it, what its frame shows, and that acts come by POST only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache

from repairs.desk import Desk, desk_of
from repairs.site import frame
from repairs.views import errors, live
from repairs.words.marked import _, said

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def screen(view: View[P]) -> View[P]:
    """A page for people who are logged in; only GET and HEAD."""
    return guarded(view, ["GET", "HEAD"])


def act(view: View[P]) -> View[P]:
    """An act of a person: only POST, with Django's CSRF check. A form that says two things at once is refused whole."""

    @functools.wraps(view)
    def inner(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        once(request.POST)
        return view(request, *args, **kwargs)

    whole: Any = inner
    return guarded(whole, ["POST"])


SEVERAL = ("case", "roles", "teams", "csrfmiddlewaretoken")  # the boxes that one may tick several of


def once(data: QueryDict) -> None:
    """Nobody could tell which of two was meant; Django would take the last."""
    for name, values in data.lists():
        if len(values) > 1 and name not in SEVERAL:
            raise SuspiciousOperation(_("This form says two things at once: {name} is given twice.", name=name))


def in_role(role: str) -> Callable[[View[P]], View[P]]:
    """Below `act`: 403 for who hasn't the role, before anything of the request is read."""

    def decorate(view: View[P]) -> View[P]:
        @functools.wraps(view)
        def inner(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if role not in at_desk(request).roles:
                raise PermissionDenied(_("This takes the role {role}.", role=role))
            return view(request, *args, **kwargs)

        checked: Any = inner
        return checked  # type: ignore[no-any-return]

    return decorate


def guarded(view: View[P], methods: list[str]) -> View[P]:
    @functools.wraps(view)
    def inner(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.method not in methods:
            return errors.an_act(request, methods)
        desk = desk_of(request)
        if desk is None:
            return to_log_in(request)
        if desk.must_change:
            return redirect("admin:password_change")
        return view(request, *args, **kwargs)

    inner.methods = methods  # type: ignore[attr-defined]  # tells pages from acts, to whoever has an address only
    checked: Any = never_cache(inner)
    return checked  # type: ignore[no-any-return]


def to_log_in(request: HttpRequest) -> HttpResponse:
    back = live.page_of(request) if request.method == "POST" else request.get_full_path()
    login = f"{resolve_url('admin:login')}?{urlencode({'next': back})}"
    answer = live.logged_out(request) if live.asked_by(request) else redirect(login)
    patch_vary_headers(answer, ["HX-Request"])
    return answer


def at_desk(request: HttpRequest) -> Desk:
    desk = desk_of(request)
    assert desk is not None
    return desk


def tell(request: HttpRequest, text: str) -> None:
    """Says on the page that comes next what was done, in the language of whoever did it."""
    messages.success(request, said(text))


def show(
    request: HttpRequest,
    template: str,
    *,
    here: str,
    status: int = 200,
    framed: dict[str, Any] | None = None,
    **context: Any,
) -> HttpResponse:
    """Renders a page in its frame. `here`: which part of the console it belongs to; `framed`: the frame, where the page
    has asked for it already."""
    context.setdefault("now", timezone.now())
    return render(request, template, {**(framed or frame(request)), **context, "here": here}, status=status)
