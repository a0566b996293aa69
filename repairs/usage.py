"""What tools did in the last day: sends counted by how they ended, and the rows behind each count. For the pages."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections import defaultdict
from typing import Any

from django.db import connection
from django.db.models import F, QuerySet

from repairs.desk import Desk
from repairs.scope import visible
from workflows.history import floor_of
from workflows.models import Attempt

DAY = dt.timedelta(hours=24)
MOST = 5_000  # sends looked at, about 50 ms: a page counts no further, and says how far back that reaches


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """The sends that are counted: those with ids from `floor` on. `whole`: that is all of the last 24 hours."""

    floor: uuid.UUID
    since: dt.datetime
    whole: bool


Counts = dict[str, dict[tuple[bool, str], int]]  # tool -> (undoing?, outcome) -> how many


def window(now: dt.datetime) -> Window:
    """The last day, or less of it where more than `MOST` sends were made. One query, by the ids alone."""
    day = floor_of(now - DAY)
    last = Attempt.objects.filter(id__gte=day).order_by("-id").values_list("id", flat=True)[MOST - 1 : MOST].first()
    if last is None:
        return Window(day, now - DAY, whole=True)
    return Window(last, dt.datetime.fromtimestamp((last.int >> 80) / 1000, tz=dt.UTC), whole=False)


def counts(since: Window, desk: Desk) -> Counts:
    """Sends of each tool by outcome, as far as the person may see them; undoings apart. One query of `MOST` sends."""
    found: Counts = defaultdict(dict)
    agents = None if desk.teams is None else list(desk.agents)
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [since.floor, MOST, agents, agents])
        for name, undoing, outcome, number in cursor.fetchall():
            found[name][undoing, outcome] = number
    return found


# Each effect by its id: a plan made while the table is small must not read all of it once it is big.
COUNTS = """
WITH latest AS MATERIALIZED (
  SELECT a.effect_id, a.outcome FROM workflows_attempt a WHERE a.id >= %s ORDER BY a.id DESC LIMIT %s)
SELECT t.name, e.kind = 'compensation', s.outcome, count(*)
FROM latest s
CROSS JOIN LATERAL (SELECT kind, tool_id, agent_id FROM workflows_effect WHERE id = s.effect_id LIMIT 1) e
JOIN workflows_tool t ON t.id = e.tool_id
WHERE %s::uuid[] IS NULL OR e.agent_id = ANY (%s::uuid[])
GROUP BY 1, 2, 3
"""


def undone(since: Window, desk: Desk) -> dict[str, tuple[int, int]]:
    """Of each tool: how many acts were undone, and of how many of them a look has shown that they are. By the last send
    of each undoing, so each counts once. One query."""
    teams = None if desk.teams is None else sorted(desk.teams)
    with connection.cursor() as cursor:
        cursor.execute(UNDONE, [since.floor, MOST, teams, teams])
        return {name: (number, seen) for name, number, seen in cursor.fetchall()}


UNDONE = """
WITH latest AS MATERIALIZED (
  SELECT a.effect_id, a.number FROM workflows_attempt a WHERE a.id >= %s ORDER BY a.id DESC LIMIT %s)
SELECT t.name, count(*), count(*) FILTER (WHERE e.state = 'verified')
FROM latest s
CROSS JOIN LATERAL (
  SELECT kind, state, attempts, tool_id, agent_id FROM workflows_effect WHERE id = s.effect_id LIMIT 1) e
JOIN workflows_tool t ON t.id = e.tool_id
JOIN workflows_agent g ON g.id = e.agent_id
WHERE e.kind = 'compensation' AND s.number = e.attempts AND (%s::text[] IS NULL OR g.team = ANY (%s::text[]))
GROUP BY 1
"""


def sends(
    since: Window,
    desk: Desk,
    *,
    tool: str,
    undoing: bool | None = None,
    outcome: str | None = None,
    seen: bool | None = None,
) -> QuerySet[Any]:
    """The rows behind a count. `seen`: of undoings the last send of each, by whether a look has shown it."""
    found = visible(desk, Attempt).filter(id__gte=since.floor, effect__tool__name=tool)
    if undoing is not None:
        found = found.filter(effect__kind="compensation") if undoing else found.exclude(effect__kind="compensation")
    if seen is not None:
        found = found.filter(number=F("effect__attempts"))
        found = found.filter(effect__state="verified") if seen else found.exclude(effect__state="verified")
    return found if outcome is None else found.filter(outcome=outcome)
