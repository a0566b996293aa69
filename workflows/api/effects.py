"""/effects/{id}: one effect with its attempts, looks, decisions and evidence."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from workflows import reading
from workflows.api import documented, query, wire
from workflows.api.base import Endpoint, agent_of, id_of


class OneEffect(Endpoint):
    @documented.effect
    def get(self, request: Request, effect_id: str) -> HttpResponse:
        query.parameters(request, ())
        return wire.respond(reading.effect_in_full(agent_of(request), id_of(effect_id, "effect")))
