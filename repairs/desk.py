"""Who sits at the console: read once a request, in one query (two with teams). Used by the site and every view."""

from __future__ import annotations

import dataclasses

from django.contrib.auth.models import User
from django.http import HttpRequest

from repairs.roles import APPROVER, OPERATOR, REPAIRER, ROLES
from workflows.authority.teams import below


@dataclasses.dataclass(frozen=True, slots=True)
class Desk:
    """`must_change`: the password was shown once by `create_person`; nothing but its change is served.

    `teams`: the names of the person's teams and of all under them; None where they belong to none and see all."""

    user: User
    roles: frozenset[str]
    must_change: bool
    teams: frozenset[str] | None = None

    @property
    def may_repair(self) -> bool:
        return REPAIRER in self.roles

    @property
    def may_approve(self) -> bool:
        return APPROVER in self.roles

    @property
    def may_operate(self) -> bool:
        return OPERATOR in self.roles


def desk_of(request: HttpRequest) -> Desk | None:
    """The person of this request, if they may use the console at all."""
    user = request.user
    if not isinstance(user, User) or not user.is_active or not user.is_staff:
        return None
    known: Desk | None = getattr(request, "desk", None)
    if known is None:
        names = ("groups__name", "person__must_change", "person__teams__name")
        rows = list(User.objects.filter(pk=user.pk).values_list(*names))
        roles = frozenset(ROLES) if user.is_superuser else frozenset(name for name, *_ in rows if name in ROLES)
        own = {team for *_, team in rows if team}
        must_change = any(flag for _, flag, _ in rows)
        known = Desk(user=user, roles=roles, must_change=must_change, teams=below(own) if own else None)
        request.desk = known  # type: ignore[attr-defined]
    return known
