"""Who else could work on a case: people in the role repairer who see its agent's team. Used where one hands it over."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import connection

from repairs.models import Case
from repairs.roles import REPAIRER
from workflows.authority.staff import UNDECIDING

MOST = 200  # names in a list to choose from


def colleagues(case: Case, of: User) -> list[str]:
    """Their logins. One query."""
    known: dict[str, int | str | list[str]] = {
        "me": of.pk,
        "team": case.run.agent.team,
        "role": REPAIRER,
        "none": sorted(UNDECIDING),
        "most": MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(OTHERS, known)
        return [name for (name,) in cursor.fetchall()]


# Who has no team sees all of them; who has one sees those below it too.
OTHERS = """
WITH RECURSIVE above(id, parent_id) AS (
  SELECT id, parent_id FROM workflows_team WHERE name = %(team)s
  UNION SELECT t.id, t.parent_id FROM workflows_team t JOIN above ON t.id = above.parent_id),
held AS (SELECT g.user_id, a.name FROM auth_user_groups g JOIN auth_group a ON a.id = g.group_id)
SELECT u.username FROM auth_user u LEFT JOIN repairs_person p ON p.user_id = u.id
WHERE u.id <> %(me)s AND u.is_active AND u.is_staff
  AND (u.is_superuser OR EXISTS (SELECT 1 FROM held WHERE user_id = u.id AND name = %(role)s)
    AND NOT EXISTS (SELECT 1 FROM held WHERE user_id = u.id AND name = ANY (%(none)s)))
  AND (NOT EXISTS (SELECT 1 FROM repairs_person_teams m WHERE m.person_id = p.id)
    OR EXISTS (SELECT 1 FROM repairs_person_teams m JOIN above ON above.id = m.team_id WHERE m.person_id = p.id))
ORDER BY u.username LIMIT %(most)s
"""
