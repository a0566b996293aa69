"""/runs: start a run, list runs, read one, and wait for its change."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from rest_framework.request import Request

from workflows import queue, reading, waiting
from workflows.api import body, documented, headers, query, seen, wire
from workflows.api.base import Endpoint, agent_of, id_of
from workflows.api.paging import Pages, render
from workflows.api.schemas import START
from workflows.engine.start import StartBody, start_run
from workflows.making import canonical_digest
from workflows.models import Run
from workflows.states import RunState

STATES = tuple(state.value for state in RunState)
FILTERS = ("state", "workflow", "subject", "external_id", "created_after", "created_before")
# One who waited in vain because all seats were taken comes back after this many seconds, not at once.
COME_BACK = "1"


class Runs(Endpoint):
    @documented.start
    def post(self, request: Request) -> HttpResponse:
        key = headers.idempotency_key(request)
        asked = body.read(request, START)
        agent = agent_of(request)
        run, created = start_run(agent, key, _start_body(asked))
        queue.ring()
        found = {"Location": f"/api/v1/runs/{run.id}"}
        if not created:
            found["Idempotent-Replayed"] = "true"
        return seen.look(agent, run.id).respond(201 if created else 200, found)

    @documented.runs
    def get(self, request: Request) -> HttpResponse:
        given = query.parameters(request, (*FILTERS, "cursor", "limit"))
        agent = agent_of(request)
        pages = Pages("runs", agent, given)
        found = Run.objects.filter(_filter(given), **agent.owned).select_related("workflow")
        found = found.defer("workflow__spec", "input", "residue", "people_reasons")
        if pages.after:
            found = found.filter(id__lt=uuid.UUID(pages.after))
        # An id holds the moment it was made: one key orders the list, never changes and is never shared.
        runs, following = pages.of(list(found.order_by("-id")[: pages.limit + 1]), lambda run: str(run.id))
        return wire.respond(render([reading.run_in_short(run) for run in runs], following))


class OneRun(Endpoint):
    @documented.run
    def get(self, request: Request, run_id: str) -> HttpResponse:
        query.parameters(request, ())
        agent, found = agent_of(request), id_of(run_id, "run")
        known, seconds = headers.known_tags(request), headers.wait(request)
        first = seen.look(agent, found)
        if not seconds or first.enough(known, first):
            return first.answer(known)
        last = waiting.until(
            found, seconds, look=lambda: seen.look_again(agent, found), enough=lambda now: now.enough(known, first)
        )
        if last is None:
            return first.answer(known, {"Retry-After": COME_BACK})
        return last.answer(known, {"Preference-Applied": f"wait={seconds}"})


def _start_body(asked: dict[str, Any]) -> StartBody:
    subject = asked["subject"]
    return StartBody(
        workflow=asked.get("workflow"),
        version=int(asked["version"]) if "version" in asked else None,
        subject={"type": subject["type"], "id": subject["id"], "label": subject.get("label", "")},
        input=asked.get("input", {}),
        external_id=asked.get("external_id", ""),
        open=asked.get("open", False),
        budget=asked.get("budget"),
        digest=canonical_digest(asked),
    )


def _filter(given: dict[str, str]) -> Q:
    wanted = Q()
    if state := query.one_of(given, "state", STATES):
        wanted &= Q(state=state)
    if "workflow" in given:
        wanted &= Q(workflow__name=given["workflow"])
    if "external_id" in given:
        wanted &= Q(external_id=given["external_id"])
    if "subject" in given:
        # type:id, or the id alone; an id may hold colons itself.
        kind, _, rest = given["subject"].partition(":")
        wanted &= Q(subject_id=given["subject"]) | Q(subject_type=kind, subject_id=rest)
    if after := query.moment(given, "created_after"):
        wanted &= Q(created_at__gt=after)
    if before := query.moment(given, "created_before"):
        wanted &= Q(created_at__lt=before)
    return wanted
