"""The list of runs: newest first, filtered by what the query says."""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from repairs import keyset
from repairs.scope import visible
from repairs.today import TODAY, today
from repairs.views.screen import at_desk, screen, show
from repairs.words import marks
from workflows.models import Agent, Run, Workflow
from workflows.states import RunState

FILTERS = {
    "state": "state",
    "workflow": "workflow",
    "subject": "subject_id",
    "external_id": "external_id",
    "agent": "agent__name",
    "day": "created_at",
}
HEAVY = (
    "input", "residue", "people_reasons", "narrowed", "workflow__spec", "agent__tools", "agent__workflows",
    "agent__narrowed",
)  # fmt: skip
LONGEST = 300  # no column that is filtered is wider


@screen
def runs(request: HttpRequest) -> HttpResponse:
    """`?state=&workflow=&subject=&external_id=&agent=&day=today`; each narrows. `?after=` is the cursor."""
    chosen = chosen_of(request)
    found = chosen_rows(request, chosen)
    of = f"runs:{urlencode(sorted(chosen.items()))}"
    start = keyset.read(request.GET.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    page = keyset.page(found, order=("-id",), of=of, at=at, after=after)
    return show(
        request,
        "console/runs.html",
        here="runs",
        page=page,
        chosen=chosen,
        query=urlencode(chosen),
        states=marks.RUN,
        workflows=Workflow.objects.filter(current=True).order_by("name").values_list("name", flat=True)[:200],
    )


def chosen_of(request: HttpRequest) -> dict[str, str]:
    chosen = {name: value for name in FILTERS if (value := request.GET.get(name, "").strip())}
    if any("\x00" in value or len(value) > LONGEST for value in chosen.values()):
        raise Http404("No run has such a value.")
    if chosen.get("state") and chosen["state"] not in {state.value for state in RunState}:
        raise Http404("There is no such state.")
    if chosen.get("day", TODAY) != TODAY:
        raise Http404("A day is today, or any.")
    return chosen


def chosen_rows(request: HttpRequest, chosen: dict[str, str]) -> QuerySet[Run]:
    """What the person may see of what they chose, without the columns that may be large."""
    found = visible(at_desk(request), Run).select_related("agent", "workflow").defer(*HEAVY)
    for name, value in chosen.items():
        found = found.filter(OF[name](value) if name in OF else Q(**{FILTERS[name]: value}))
    return found


def of_subject(value: str) -> Q:
    """type:id, or the id alone, as the API reads it; an id may hold colons itself."""
    kind, _, rest = value.partition(":")
    return Q(subject_id=value) | Q(subject_type=kind, subject_id=rest)


def of_agent(value: str) -> Q:
    return Q(agent__in=ids(Agent, value))


def of_workflow(value: str) -> Q:
    return Q(workflow__in=ids(Workflow, value))


def ids(model: type[Agent | Workflow], name: str) -> list[uuid.UUID]:
    """A statement that holds them is planned for what they are; joined by name, all runs are read for a rare one."""
    return list(model._default_manager.filter(name=name).values_list("id", flat=True))


def of_day(value: str) -> Q:
    return today("created_at", by_id=True)


OF = {"subject": of_subject, "agent": of_agent, "workflow": of_workflow, "day": of_day}
