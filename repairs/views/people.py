"""People: who may log in, with which roles and teams. Admins make and change them, auditors look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from repairs import keyset
from repairs.acts import people as acts
from repairs.acts import proof
from repairs.acts.door import actor
from repairs.models import PersonAct
from repairs.roles import ADMIN, ROLES
from repairs.views.acts import STATUS, why
from repairs.views.screen import act, at_desk, in_role, screen, show, tell
from repairs.words.marked import _
from workflows.errors import MakegoodError
from workflows.models import Team

MOST = 500  # teams to choose from
LONGEST = 150  # characters of a login
SHOWN = 50  # changes, the latest


@screen
def people(request: HttpRequest) -> HttpResponse:
    if not at_desk(request).sees_people:
        raise PermissionDenied(_("Admins and auditors see who may log in."))
    return page(request)


@act
@in_role(ADMIN)
def create(request: HttpRequest) -> HttpResponse:
    form, by = request.POST, actor(at_desk(request).user)
    login = form.get("login", "").strip()
    try:
        proof.demand(request, at_desk(request), strong=True)
        password = acts.create(login, form.getlist("roles"), form.getlist("teams"), by=by, why=why(request))
    except MakegoodError as error:
        return refusal(request, error)
    return page(request, made=login, password=password)


@act
@in_role(ADMIN)
def change(request: HttpRequest) -> HttpResponse:
    form, by, login = request.POST, actor(at_desk(request).user), request.POST.get("login", "")
    given = {"roles": form.getlist("roles"), "teams": form.getlist("teams"), "active": form.get("active") == "yes"}
    said = _("Changed: {login}.", login=login)
    return done(request, lambda: acts.change(login, by=by, why=why(request), **given), said)  # type: ignore[arg-type]


@act
@in_role(ADMIN)
def reset(request: HttpRequest) -> HttpResponse:
    by, login = actor(at_desk(request).user), request.POST.get("login", "")
    said = _("{login} has no second factor any more, and sets up another.", login=login)
    return done(request, lambda: acts.reset_second_factor(login, by=by, why=why(request)), said)


def done(request: HttpRequest, verb: Callable[[], None], said: str) -> HttpResponse:
    try:
        proof.demand(request, at_desk(request), strong=True)
        verb()
    except MakegoodError as error:
        return refusal(request, error, asked=request.POST.get("login", ""))
    tell(request, said)
    return redirect(f"{reverse('people')}?{urlencode({'login': request.POST.get('login', '')})}")


def refusal(request: HttpRequest, error: MakegoodError, *, asked: str = "") -> HttpResponse:
    typed = {
        "login": request.POST.get("login", ""),
        "roles": request.POST.getlist("roles"),
        "teams": request.POST.getlist("teams"),
        "why": why(request),
    }
    return page(request, status=STATUS.get(type(error), 400), error=error, typed=typed, asked=asked)


def page(request: HttpRequest, *, status: int = 200, asked: str = "", **context: Any) -> HttpResponse:
    """`?login=` narrows by a part of it, `?after=` is the cursor. `password`: of who was just made, shown in this one
    answer; `typed`: what was refused."""
    desk, asked = at_desk(request), "" if strange(asked) else asked or request.GET.get("login", "").strip()
    if strange(asked):
        raise Http404("Nobody has such a login.")
    found = User.objects.filter(is_staff=True, username__icontains=asked).select_related("person", "second_factor")
    of = f"people:{asked}"
    at, after = keyset.read(request.GET.get("after", ""), of=of) or (timezone.now(), None)
    people = found.prefetch_related("groups", "person__teams")
    shown = keyset.page(people, order=("username",), of=of, at=at, after=after)
    return show(
        request,
        "console/people.html",
        here="people",
        status=status,
        page=shown,
        rows=[row_of(user) for user in shown.rows],
        asked=asked,
        query=urlencode({"login": asked} if asked else {}),
        roles=ROLES,
        teams=list(Team.objects.order_by("name").values_list("name", flat=True)[:MOST]),
        changes=PersonAct.objects.order_by("-id")[:SHOWN],
        may_change=ADMIN in desk.roles,
        **{"error": None, "typed": {}, "made": "", "password": "", **context},
    )


def strange(login: str) -> bool:
    return "\x00" in login or len(login) > LONGEST


def row_of(user: User) -> dict[str, Any]:
    person, factor = getattr(user, "person", None), getattr(user, "second_factor", None)
    return {
        "user": user,
        "roles": [group.name for group in user.groups.all() if group.name in ROLES],
        "teams": [team.name for team in person.teams.all()] if person else [],
        "factor": factor is not None and factor.confirmed_at is not None,
    }
