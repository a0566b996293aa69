"""Who may do what: the roles, kept as Django groups. Everybody who may log in may read what their teams see."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

from repairs.words.marked import _
from workflows.authority import staff
from workflows.authority.staff import UNDECIDING

REPAIRER = "repairer"  # claims cases, looks again, proposes write-offs
APPROVER = "approver"  # confirms or declines what another person proposed
MANAGER = "manager"  # reads
OPERATOR = "operator"  # runs the installation
AUTHOR = "author"  # drafts and tries policies, and activates none
AUDITOR = "auditor"  # reads all of every team, and never acts
ADMIN = "admin"  # makes people, gives roles and teams, and decides about no effect
EMERGENCY = staff.EMERGENCY  # beside others: does alone what takes two, and another reviews it
ROLES = (REPAIRER, APPROVER, MANAGER, OPERATOR, AUTHOR, EMERGENCY, AUDITOR, ADMIN)


def roles_of(user: AbstractBaseUser | AnonymousUser) -> frozenset[str]:
    """The roles of a person; a superuser has all of them, and stays one person where two are asked for."""
    if not isinstance(user, User) or not user.is_active:
        return frozenset()
    return held(user.groups.filter(name__in=ROLES).values_list("name", flat=True), superuser=user.is_superuser)


def held(groups: Iterable[str], *, superuser: bool) -> frozenset[str]:
    """What groups amount to. Who judges others, or says who may, has no further role, whatever groups say."""
    if superuser:
        return frozenset(ROLES) - {AUDITOR}
    roles = frozenset(ROLES).intersection(groups)
    return roles & UNDECIDING or roles


def alone(roles: Iterable[str]) -> str:
    """Why these roles don't go together; "" where they do."""
    for role in sorted(UNDECIDING.intersection(roles)):
        if len(set(roles)) > 1:
            return _("{role} goes with no other role: who has it decides nothing", role=role)
    return ""
