"""Who looks at a case now, whose work renews its claim, and who must be told that theirs is in other hands.

Pages say every few seconds that they are open (`views.here`). None of it decides anything: claims and fences do.
"""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import QuerySet

from repairs.acts.door import LEASE
from repairs.models import Case, Presence
from workflows import rows

GONE = dt.timedelta(seconds=45)  # pages tell of themselves each 10 s; a few of those may be lost
SPARE = dt.timedelta(minutes=1)  # a lease is written anew no oftener than this
KEPT = dt.timedelta(days=1)  # what nobody had to be told
TOLD = dt.timedelta(days=7)  # what somebody had


def note(case: Case, user: User) -> None:
    """This person has the page open. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE, {"case": case.id, "user": user.pk, "gone": GONE.total_seconds()})


NOTE = """
INSERT INTO repairs_presence AS p (case_id, user_id, opened_at, seen_at)
VALUES (%(case)s, %(user)s, clock_timestamp(), clock_timestamp())
ON CONFLICT (case_id, user_id) DO UPDATE SET seen_at = excluded.seen_at,
  opened_at = CASE WHEN p.seen_at < excluded.seen_at - make_interval(secs => %(gone)s) THEN excluded.opened_at
    ELSE p.opened_at END
"""


def renew(case: Case, user: User, fence: int, now: dt.datetime) -> bool:
    """Who works on the page of the case that they hold keeps it. Takes no lock of the run, and revives no claim."""
    mine = Case.objects.filter(id=case.id, claimed_by=user, fence=fence, lease_until__gt=now)
    return bool(mine.filter(lease_until__lt=now + LEASE - SPARE).update(lease_until=now + LEASE))


def others(case: Case, user: User, now: dt.datetime) -> QuerySet[Presence]:
    """Who else has the page open, the longest there first."""
    here = Presence.objects.filter(case=case, seen_at__gt=now - GONE).exclude(user=user)
    return here.select_related("user").only("opened_at", "user__username").order_by("opened_at")


def tell(case_id: uuid.UUID, *, user: int, by: User, how: str, now: dt.datetime) -> None:
    """They are told on every page until they say that they know. `how`: taken, accepted, declined."""
    told = {"taken_by": by, "how": how}
    known = {"opened_at": now, "seen_at": now, **told}
    Presence.objects.update_or_create(case_id=case_id, user_id=user, create_defaults=known, defaults=told)


def known(case_id: uuid.UUID, user: User) -> None:
    """They know, or have it back."""
    Presence.objects.filter(case=case_id, user=user, taken_by__isnull=False).update(taken_by=None)


def sweep() -> None:
    now = rows.now()
    Presence.objects.filter(seen_at__lt=now - KEPT, taken_by__isnull=True).delete()
    Presence.objects.filter(seen_at__lt=now - TOLD).delete()
