"""What admins do to people: make a login, change roles and teams, switch one off, take a lost second factor away."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from django.contrib.auth.models import Group, User
from django.db import transaction

from repairs.acts.person_act import record
from repairs.models import Person, SecondFactor
from repairs.roles import ROLES, alone
from repairs.words.marked import _
from workflows.authority.teams import named
from workflows.errors import Denied, Flaw, Invalid, StaleFence
from workflows.models import Team
from workflows.why import reason

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,79}")
WORDS = 16  # random bytes of a password that is typed once: nobody guesses it, everybody can copy it


def create(login: str, roles: Sequence[str], teams: Sequence[str], *, by: str, why: str) -> str:
    """The one-time password, for this one answer. Raises `Invalid`, `StaleFence`."""
    why = reason(why)
    if not NAME.fullmatch(login):
        flaw = _("can't be a login; use 1 to 80 letters, digits and . _ @ + - only")
        raise Invalid(_("Nobody was made."), [Flaw("login", login, flaw)])
    wanted, belongs = _roles(roles), _teams(teams)
    with transaction.atomic():
        if User.objects.filter(username__iexact=login).exists():
            raise StaleFence(
                _("{login} has a login already. A new password: manage.py changepassword {login}", login=login)
            )
        password = secrets.token_urlsafe(WORDS)
        user = User.objects.create_user(login, password=password, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=wanted))
        Person.objects.create(user=user, must_change=True).teams.set(belongs)
        record(login, "create", by=by, why=why, roles=wanted, teams=sorted(team.name for team in belongs))
    return password


def change(
    login: str,
    *,
    by: str,
    why: str,
    roles: Sequence[str] | None = None,
    teams: Sequence[str] | None = None,
    active: bool | None = None,
) -> None:
    """What is None stays. It counts from the person's next request on. Nobody changes themselves.

    Raises `Invalid`, `Denied`."""
    why = reason(why)
    wanted = None if roles is None else _roles(roles)
    belongs = None if teams is None else _teams(teams)
    with transaction.atomic():
        user = _other(login, by)
        person, _made = Person.objects.get_or_create(user=user)
        facts: dict[str, object] = {}
        if wanted is not None:
            had = sorted(user.groups.filter(name__in=ROLES).values_list("name", flat=True))
            if had != wanted:
                facts |= {"roles_were": had, "roles": wanted}
                user.groups.remove(*Group.objects.filter(name__in=ROLES).exclude(name__in=wanted))
                user.groups.add(*Group.objects.filter(name__in=wanted))
        if belongs is not None:
            was, new = sorted(person.teams.values_list("name", flat=True)), sorted(team.name for team in belongs)
            if was != new:
                facts |= {"teams_were": was, "teams": new}
                person.teams.set(belongs)
        if active is not None and active != user.is_active:
            facts["active"] = user.is_active = active
            user.save(update_fields=["is_active"])
        if facts:
            record(login, "change", by=by, why=why, **facts)


def reset_second_factor(login: str, *, by: str, why: str) -> None:
    """Raises `Denied`, `Invalid`, `StaleFence`."""
    why = reason(why)
    with transaction.atomic():
        user = _other(login, by)
        if not SecondFactor.objects.filter(user=user).delete()[0]:
            raise StaleFence(_("{login} has no second factor.", login=login))
        record(login, "second_factor_reset", by=by, why=why)


def _roles(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in ROLES:
            flaw = _("is no role; there are {roles}", roles=", ".join(ROLES))
            raise Invalid(_("Nothing was changed."), [Flaw("roles", name, flaw)])
    if trouble := alone(names):
        raise Invalid(_("Nothing was changed."), [Flaw("roles", " ".join(names), trouble)])
    return sorted(set(names))


def _teams(names: Sequence[str]) -> list[Team]:
    return [named(name.replace("\x00", "\N{REPLACEMENT CHARACTER}"), "teams") for name in dict.fromkeys(names)]


def _other(login: str, by: str) -> User:
    """The person, locked. Who gives roles gives none to themselves."""
    user = User.objects.select_for_update().filter(username=login).first() if "\x00" not in login else None
    if user is None:
        raise Invalid(_("Nothing was changed."), [Flaw("login", login, _("has no login here"))])
    if by == f"person:{login}":
        raise Denied(_("Another admin changes you; nobody gives roles to themselves."))
    if user.is_superuser and by != "command":
        raise Denied(_("A superuser is changed by manage.py person only."))
    return user
