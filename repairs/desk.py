"""Who sits at the console: read once a request, in one query. Used by the site and every view."""

from __future__ import annotations

import dataclasses

from django.contrib.auth.models import User
from django.http import HttpRequest

from repairs.roles import APPROVER, REPAIRER, ROLES


@dataclasses.dataclass(frozen=True, slots=True)
class Desk:
    """`must_change`: the password was shown once by `create_person`; nothing but its change is served."""

    user: User
    roles: frozenset[str]
    must_change: bool

    @property
    def may_repair(self) -> bool:
        return REPAIRER in self.roles

    @property
    def may_approve(self) -> bool:
        return APPROVER in self.roles


def desk_of(request: HttpRequest) -> Desk | None:
    """The person of this request, if they may use the console at all."""
    user = request.user
    if not isinstance(user, User) or not user.is_active or not user.is_staff:
        return None
    known: Desk | None = getattr(request, "desk", None)
    if known is None:
        rows = list(User.objects.filter(pk=user.pk).values_list("groups__name", "person__must_change"))
        roles = frozenset(ROLES) if user.is_superuser else frozenset(name for name, _ in rows if name in ROLES)
        known = Desk(user=user, roles=roles, must_change=any(flag for _, flag in rows))
        request.desk = known  # type: ignore[attr-defined]
    return known
