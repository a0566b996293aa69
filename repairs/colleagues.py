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


# Who has no team sees all of them; who has one sees those below it too. Each set is asked for whole, once, and looked
# into: asked for person by person it is read through for each, wherever the planner takes a crowd for a few.
OTHERS = """
WITH RECURSIVE above(id, parent_id) AS (
  SELECT id, parent_id FROM workflows_team WHERE name = %(team)s
  UNION SELECT t.id, t.parent_id FROM workflows_team t JOIN above ON t.id = above.parent_id)
SELECT u.username FROM auth_user u
WHERE u.id <> %(me)s AND u.is_active AND u.is_staff
  AND (u.is_superuser
    OR u.id IN (SELECT g.user_id FROM auth_user_groups g JOIN auth_group a ON a.id = g.group_id WHERE a.name = %(role)s)
    AND u.id NOT IN (
      SELECT g.user_id FROM auth_user_groups g JOIN auth_group a ON a.id = g.group_id WHERE a.name = ANY (%(none)s)))
  AND (u.id NOT IN (
      SELECT p.user_id FROM repairs_person p JOIN repairs_person_teams m ON m.person_id = p.id)
    OR u.id IN (
      SELECT p.user_id FROM repairs_person p JOIN repairs_person_teams m ON m.person_id = p.id
      JOIN above ON above.id = m.team_id))
ORDER BY u.username LIMIT %(most)s
"""
