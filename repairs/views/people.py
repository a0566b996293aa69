"""People: who may log in, with which roles and teams. Admins make and change them, auditors look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

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

MOST = 500  # people on the page; who has more changes the rest with manage.py person
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
        return refusal(request, error)
    tell(request, said)
    return redirect("people")


def refusal(request: HttpRequest, error: MakegoodError) -> HttpResponse:
    typed = {
        "login": request.POST.get("login", ""),
        "roles": request.POST.getlist("roles"),
        "teams": request.POST.getlist("teams"),
        "why": why(request),
    }
    return page(request, status=STATUS.get(type(error), 400), error=error, typed=typed)


def page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    """`password`: of who was just made, shown in this one answer; `typed`: what was refused."""
    desk = at_desk(request)
    found = User.objects.filter(is_staff=True).select_related("person", "second_factor")
    rows = [row_of(user) for user in found.prefetch_related("groups", "person__teams").order_by("username")[:MOST]]
    return show(
        request,
        "console/people.html",
        here="people",
        status=status,
        rows=rows,
        roles=ROLES,
        teams=list(Team.objects.order_by("name").values_list("name", flat=True)[:MOST]),
        changes=PersonAct.objects.order_by("-id")[:SHOWN],
        may_change=ADMIN in desk.roles,
        **{"error": None, "typed": {}, "made": "", "password": "", **context},
    )


def row_of(user: User) -> dict[str, Any]:
    person, factor = getattr(user, "person", None), getattr(user, "second_factor", None)
    return {
        "user": user,
        "roles": [group.name for group in user.groups.all() if group.name in ROLES],
        "teams": [team.name for team in person.teams.all()] if person else [],
        "factor": factor is not None and factor.confirmed_at is not None,
    }
