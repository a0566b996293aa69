"""Who sits at the console: read once a request, in one query. Used by the site and every view."""

from __future__ import annotations

import dataclasses
import uuid

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest

from repairs import keyset
from repairs.roles import ADMIN, APPROVER, AUDITOR, EMERGENCY, MANAGER, OPERATOR, REPAIRER, ROLES, held
from repairs.words import clock


@dataclasses.dataclass(frozen=True, slots=True)
class Desk:
    """`must_change`: the password was shown once by `create_person`; nothing but its change is served.

    `teams`: the names of the person's teams and of all under them; None where they belong to none and see all.
    `agents`: the ids of these teams' agents. A statement that names them is planned for how much they have done.
    `factor`: the id of their confirmed second factor. `taken`: numbers of cases that somebody took from them or whose
    hand-over they answered, with who and how, until they say that they know. `zone`: in which they see times."""

    user: User
    roles: frozenset[str]
    must_change: bool
    teams: frozenset[str] | None = None
    agents: tuple[uuid.UUID, ...] = ()
    factor: int | None = None
    taken: tuple[tuple[int, str, str], ...] = ()
    zone: str = clock.UTC

    @property
    def named(self) -> tuple[str, ...]:
        """Their roles, what they do most first."""
        return tuple(role for role in ROLES if role in self.roles)

    @property
    def may_repair(self) -> bool:
        return REPAIRER in self.roles

    @property
    def may_approve(self) -> bool:
        return APPROVER in self.roles

    @property
    def may_operate(self) -> bool:
        return OPERATOR in self.roles

    @property
    def alone(self) -> bool:
        """Whether one person may do what takes two, whoever they are; the journal says so."""
        return bool(settings.FOUR_EYES == "when_possible")

    @property
    def breaks(self) -> bool:
        """Whether they may break the glass: do alone what takes two, and another reviews it."""
        return EMERGENCY in self.roles and not self.alone

    @property
    def reviews(self) -> bool:
        """Whether they say of what others did alone if it was right."""
        return bool(self.roles & {APPROVER, MANAGER, OPERATOR})

    @property
    def watches(self) -> bool:
        """Whether they answer for how others decide."""
        return bool(self.roles & {MANAGER, AUDITOR, ADMIN})

    @property
    def sees_people(self) -> bool:
        return bool(self.roles & {ADMIN, AUDITOR})


def desk_of(request: HttpRequest) -> Desk | None:
    """The person of this request, if they may use the console at all."""
    user = request.user
    if not isinstance(user, User) or not user.is_active or not user.is_staff:
        return None
    known: Desk | None = getattr(request, "desk", None)
    if known is None:
        known = desk_for(user)
        request.desk = known  # type: ignore[attr-defined]
        clock.use(known.zone)
        keyset.seen_by(known.teams)
    return known


def desk_for(user: User) -> Desk:
    """The same outside a request: for what is done later in a person's name, by what they may then."""
    with connection.cursor() as cursor:
        cursor.execute(PERSON, {"user": user.pk})
        groups, must_change, zone, names, agents, factor, taken, *_ = cursor.fetchone()
    roles = held(groups, superuser=user.is_superuser) if user.is_active and user.is_staff else frozenset()
    teams = None if AUDITOR in roles else frozenset(names) or None
    lost = tuple((int(number), name, how) for number, name, how in taken)
    return Desk(user, roles, must_change, teams, tuple(agents), factor, taken=lost, zone=zone)


# One statement, for it is asked at every request. It would end even if teams stood in a circle. It tells the planner
# what pages need: to plan each statement for its own values, since a plan that is kept for any state or agent reads all
# runs for a rare one; to compile none of them; and to take a row by an index for nearly as cheap as the next one of a
# table, as where disks have no heads: a file of fifty rows read two hundred thousand. The engine's transactions say for
# themselves what they need.
PERSON = """
WITH RECURSIVE mine(id, name) AS (
  SELECT t.id, t.name FROM repairs_person p JOIN repairs_person_teams m ON m.person_id = p.id
  JOIN workflows_team t ON t.id = m.team_id WHERE p.user_id = %(user)s
  UNION SELECT t.id, t.name FROM workflows_team t JOIN mine ON t.parent_id = mine.id)
SELECT ARRAY(SELECT g.name FROM auth_user_groups u JOIN auth_group g ON g.id = u.group_id WHERE u.user_id = %(user)s),
  coalesce((SELECT must_change FROM repairs_person WHERE user_id = %(user)s), false),
  coalesce((SELECT zone FROM repairs_person WHERE user_id = %(user)s), 'UTC'), ARRAY(SELECT name FROM mine),
  ARRAY(SELECT a.id FROM workflows_agent a JOIN mine ON mine.name = a.team ORDER BY a.id),
  (SELECT id FROM repairs_secondfactor WHERE user_id = %(user)s AND confirmed_at IS NOT NULL),
  ARRAY(SELECT ARRAY[c.number::text, u.username::text, p.how::text]
    FROM repairs_presence p JOIN repairs_case c ON c.id = p.case_id JOIN auth_user u ON u.id = p.taken_by_id
    WHERE p.user_id = %(user)s AND p.taken_by_id IS NOT NULL ORDER BY c.number LIMIT 10),
  set_config('plan_cache_mode', 'force_custom_plan', false), set_config('jit', 'off', false),
  set_config('random_page_cost', '1.1', false)
"""
