"""Measures how long people work on a case: from acts, and from the work of its holder on its page. Never guessed.

What comes within five minutes of the last is one stretch; a longer pause isn't counted. What was done elsewhere, on the
phone say, somebody adds as a correction with a reason, which is shown apart.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import F, OuterRef, Sum
from django.db.models.functions import Extract, JSONObject

from repairs.models import Act, Worked
from repairs.models.act import ActKind

IDLE = dt.timedelta(minutes=5)  # long enough to read and to think, too short for a coffee

MEASURED = "measured"  # as what a query of cases brings it along


def note(case_id: uuid.UUID, user_id: int) -> None:
    """This person did something just now. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE, {"case": case_id, "user": user_id, "idle": IDLE.total_seconds()})


# A new row waits for whoever holds the case. It must hold no other row by then: an act has the case and asks for that.
NOTE = """
WITH last AS (
  SELECT id, until FROM repairs_worked WHERE case_id = %(case)s AND user_id = %(user)s
  ORDER BY until DESC LIMIT 1),
grown AS (
  UPDATE repairs_worked w SET until = greatest(w.until, clock_timestamp()) FROM last
  WHERE w.id = last.id AND last.until >= clock_timestamp() - make_interval(secs => %(idle)s) RETURNING w.id)
INSERT INTO repairs_worked (case_id, user_id, began, until)
SELECT %(case)s, %(user)s, now, now FROM (SELECT clock_timestamp() AS now) n WHERE NOT EXISTS (SELECT 1 FROM grown)
"""


def measured() -> ArraySubquery:
    """Beside each case of a query: [{"name", "seconds"}], for each person who worked on it."""
    mine = Worked.objects.filter(case=OuterRef("pk")).order_by().values("user_id", "user__username")
    spent = mine.annotate(spent=Sum(F("until") - F("began"))).order_by("-spent")
    return ArraySubquery(spent.values(of=JSONObject(name=F("user__username"), seconds=Extract("spent", "epoch"))))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """Minutes. `people`: measured, the longest first; `corrections`: the newest first."""

    people: Sequence[tuple[str, int]]
    corrections: Sequence[Act]
    seconds: float

    @property
    def minutes(self) -> int:
        return round(self.seconds / 60)

    @property
    def corrected(self) -> int:
        return self.minutes + sum(int(act.facts["minutes"]) for act in self.corrections)


def time_of(told: Sequence[dict[str, object]], acts: Sequence[Act]) -> Time:
    """`told`: what `measured` gave."""
    seconds = {str(one["name"]): float(str(one["seconds"])) for one in told}
    return Time(
        people=list(shares(seconds).items()),
        corrections=[act for act in acts if act.kind == ActKind.CORRECT_TIME],
        seconds=sum(seconds.values()),
    )


def shares(seconds: Mapping[str, float]) -> dict[str, int]:
    """Minutes of each that add up to those of all: what is missing goes to whose rounding down took most."""
    found = {name: int(spent // 60) for name, spent in seconds.items()}
    missing = round(sum(seconds.values()) / 60) - sum(found.values())
    for name in sorted(seconds, key=lambda name: -(seconds[name] % 60))[:missing]:
        found[name] += 1
    return found
