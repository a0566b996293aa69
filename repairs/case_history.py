"""What was done to a case, by people and by the engine, and what people were asked to approve. For the case's page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef
from django.db.models.functions import JSONObject

from repairs.asked import OF_ITS_RUN
from repairs.models import Act, Case
from workflows.models import Entry

HISTORY = 200  # events shown; a case with more has its whole journal on the run's page
EVENTS = "events_of_the_engine"  # as the query of a case brings them along: one statement less for a page of many


def history(case: Case, acts: Sequence[Act]) -> list[Mapping[str, Any]]:
    """The newest first. `case`: as `events` and `of_its_run` were asked for with it."""
    told: list[Mapping[str, Any]] = [{"at": act.at, "act": act} for act in acts]
    for name, of in (("event", EVENTS), ("approval", OF_ITS_RUN)):
        told += [{"at": dt.datetime.fromisoformat(one["at"]), name: one} for one in getattr(case, of)]
    return sorted(told, key=lambda line: line["at"], reverse=True)


def events() -> ArraySubquery:
    """Beside each case of a query: what the engine did to it, [{"event", "at"}]."""
    mine = Entry.objects.filter(subject_id=OuterRef("pk")).exclude(actor__startswith="person:").order_by("-seq")
    return ArraySubquery(mine.values(told=JSONObject(event=F("event"), at=F("at")))[:HISTORY])
