"""/runs/{id}/…: add a step, seal, cancel. Each parses, calls one verb and renders."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from rest_framework.request import Request

from workflows import reading
from workflows.api import body, documented, headers, seen, wire
from workflows.api.base import Endpoint, agent_of, id_of
from workflows.api.schemas import CANCEL, NOTHING, STEP
from workflows.engine.cancel import cancel
from workflows.engine.seal import seal
from workflows.engine.steps import StepBody, add_step
from workflows.making import canonical_digest
from workflows.models import Agent


class Steps(Endpoint):
    @documented.step
    def post(self, request: Request, run_id: str) -> HttpResponse:
        agent, found = _owned(request, run_id)
        headers.idempotency_key(request, required=False)  # the name decides; a key is only checked for its form
        asked = body.read(request, STEP)
        step, created = add_step(
            agent,
            found,
            StepBody(
                name=asked["name"],
                tool=asked["tool"],
                arguments=asked["arguments"],
                after=asked.get("after"),
                digest=canonical_digest(asked),
            ),
        )
        known = {} if created else {"Idempotent-Replayed": "true"}
        shape = reading.step_in_full(reading.run_of(agent, found), step.name)
        return wire.respond(shape, status=202 if created else 200, headers=known)


class Seal(Endpoint):
    @documented.seal
    def post(self, request: Request, run_id: str) -> HttpResponse:
        agent, found = _owned(request, run_id)
        body.read(request, NOTHING, may_be_empty=True)
        run, sealed = seal(agent, found)
        return seen.look(agent, run.id).respond(202 if sealed else 200)


class Cancel(Endpoint):
    @documented.cancel
    def post(self, request: Request, run_id: str) -> HttpResponse:
        agent, found = _owned(request, run_id)
        asked = body.read(request, CANCEL)
        run = cancel(agent, found, reason=asked["reason"], then=asked.get("then", "compensate"))
        return seen.look(agent, run.id).respond(202)


def _owned(request: Request, run_id: str) -> tuple[Agent, uuid.UUID]:
    """Before anything else is read: whose run it isn't learns nothing of it, not even by the order of the checks."""
    agent = agent_of(request)
    return agent, reading.run_of(agent, id_of(run_id, "run")).id
