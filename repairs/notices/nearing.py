"""Finds live cases and undecided approvals whose time is nearly over. Called by the sweep, each minute."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet

from repairs.models.glass import Glass
from repairs.models.notice import Notice, What
from repairs.notices import telling
from repairs.notices.telling import LATE, About
from repairs.roles import APPROVER, MANAGER, REPAIRER
from workflows.fetch import fetch
from workflows.models import Approval

MOST = 1000  # of each a minute; the next sweep takes the next ones
NEARLY = 0.8  # of an approval's time


def near(now: dt.datetime) -> None:
    """Tells of cases whose moments have come, and once of approvals that four fifths of their time found undecided."""
    if settings.NOTICES:
        _near_cases(now)
        telling.of_expiring(fetch(Approval, UNDECIDED, [now, now, NEARLY, MOST]), now)
        for glass in _unreviewed(now):
            telling.of_glass(glass, late=True)


def _unreviewed(now: dt.datetime) -> QuerySet[Glass]:
    """Broken glasses whose review is overdue and of which nobody was told that it is."""
    told = Notice.objects.filter(what=What.GLASS.value, subject=OuterRef("id"), mark=LATE)
    return Glass.objects.filter(~Exists(told), reviewed_at=None, due_at__lte=now).order_by("due_at")[:MOST]


UNDECIDED = """
WHERE t.state = 'asked' AND t.expires_at > %s AND %s >= t.asked_at + (t.expires_at - t.asked_at) * %s
AND NOT EXISTS (SELECT 1 FROM repairs_notice n WHERE n.what = 'expiring' AND n.subject = t.id)
ORDER BY t.expires_at, t.id LIMIT %s
"""


def _near_cases(now: dt.datetime) -> None:
    """Tells of half the time, four fifths, all of it, and the last hour before the deadline or the cut-off.

    Of several moments that passed only the last one is told, and none that passed more than a day ago: after an
    outage people want to know how it stands, not how it went.
    """
    names = {receiver.name for receiver in settings.NOTICES}
    with connection.cursor() as cursor:
        roles = {role: role in names for role in (REPAIRER, APPROVER, MANAGER)}
        cursor.execute(NEAR, {"now": now, **roles, "teams": sorted(names), "most": MOST})
        found = cursor.fetchall()
    telling.tell(What.DEADLINE, [About(case, told_of(name), owner, mark) for case, owner, name, mark in found], now)


def told_of(moment: str) -> frozenset[str]:
    """The later it is the more people hear of it."""
    return MORE.get(moment, frozenset()) | {REPAIRER}


MORE = {"80%": frozenset({APPROVER}), "100%": frozenset({APPROVER, MANAGER})}


NEAR = """
SELECT p.id, p.owner, p.name, p.mark FROM (
  SELECT DISTINCT ON (c.id) c.id, c.owner, m.name, m.name || '.' || c.reopened AS mark
  FROM repairs_case c,
  LATERAL (SELECT c.opened_at + c.paused AS begun, coalesce(c.paused_since, %(now)s) AS its_now) t,
  LATERAL (VALUES
    ('50%%', t.begun + (c.deadline - t.begun) * 0.5, t.its_now),
    ('80%%', t.begun + (c.deadline - t.begun) * 0.8, t.its_now),
    ('hour', c.deadline - interval '1 hour', t.its_now), ('100%%', c.deadline, t.its_now),
    ('cutoff-hour', c.cutoff - interval '1 hour', %(now)s), ('cutoff', c.cutoff, %(now)s)) AS m(name, at, upto)
  WHERE c.state IN ('open', 'waiting') AND m.at > t.begun AND m.at <= m.upto AND m.at > %(now)s - interval '1 day'
  ORDER BY c.id, m.at DESC, m.name) p
WHERE (%(repairer)s OR p.owner = ANY (%(teams)s) OR %(approver)s AND p.name IN ('80%%', '100%%')
    OR %(manager)s AND p.name = '100%%')
  AND NOT EXISTS (SELECT 1 FROM repairs_notice n WHERE n.what = 'deadline' AND n.subject = p.id AND n.mark = p.mark)
LIMIT %(most)s
"""
