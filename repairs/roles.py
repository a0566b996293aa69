"""Who may do what: the four roles, kept as Django groups. Everybody who may log in may read."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

REPAIRER = "repairer"  # claims cases, looks again, proposes write-offs
APPROVER = "approver"  # confirms or declines what another person proposed
MANAGER = "manager"  # reads
OPERATOR = "operator"  # runs the installation
ROLES = (REPAIRER, APPROVER, MANAGER, OPERATOR)


def roles_of(user: AbstractBaseUser | AnonymousUser) -> frozenset[str]:
    """The roles of a person; a superuser has all of them, and stays one person where two are asked for."""
    if not isinstance(user, User) or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return frozenset(ROLES)
    return frozenset(user.groups.filter(name__in=ROLES).values_list("name", flat=True))
