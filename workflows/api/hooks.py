"""/hooks/{source}: signed messages from outside, taken as hints."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from workflows import rows
from workflows.api import body, documented, wire
from workflows.api.base import Endpoint
from workflows.authority import signatures
from workflows.engine.hint import hint


class Hooks(Endpoint):
    authentication_classes: tuple[Any, ...] = ()  # the signature says who it is

    @documented.hook
    def post(self, request: Request, source: str) -> HttpResponse:
        keys = signatures.secrets_of(source)
        data = body.raw(request)
        headers = {name.lower(): value for name, value in request.headers.items()}
        event_id, sent_at = signatures.check(headers, data, keys, now=rows.now())
        hook, new = hint(source, event_id, sent_at=sent_at, body=body.parse(data))
        told = {"id": str(hook.id), "new": new, "looks": hook.looks, "skew": round(hook.skew, 3)}
        return wire.respond(told, status=202 if new else 200)
