"""What all addresses of the API share: who calls, how errors are said, and ids that are read strictly."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from workflows.api import problems
from workflows.authority.keys import Unauthenticated, check_key
from workflows.errors import NotFound
from workflows.models import Agent

ID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


class KeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Agent, None]:
        scheme, _, key = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise Unauthenticated
        return check_key(key.strip()), None


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = KeyAuthentication
    name = "agentKey"

    def get_security_definition(self, _auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The key that create_agent printed."}


class OnlyJson(BaseContentNegotiation):
    """There is one representation; what a client would rather have changes nothing."""

    def select_parser(self, _request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, _request: Request, renderers: Any, _format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    authentication_classes: tuple[Any, ...] = (KeyAuthentication,)
    permission_classes = ()  # what an agent may do is decided by the verbs
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = OnlyJson
    metadata_class = None

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], HttpResponse]:
        return problems.handle


def agent_of(request: Request) -> Agent:
    agent = request.user
    assert isinstance(agent, Agent)
    return agent


def id_of(text: str, kind: str) -> uuid.UUID:
    """The id in an address. A malformed one is answered just like one that names nothing, or another agent's."""
    if not ID.fullmatch(text):
        raise NotFound(f"There is no such {kind}, or it isn't yours.")
    return uuid.UUID(text)


@csrf_exempt
def missing(request: HttpRequest, rest: str) -> HttpResponse:
    """Every other address: with a slash too many or too few it is served, else it is a 404 in the API's own form."""
    base = request.path_info.removesuffix(rest)
    for other in (rest.rstrip("/"), f"{rest}/"):
        try:
            match = resolve(base + other)
        except Resolver404:
            continue
        if match.func is not missing:
            response: HttpResponse = match.func(request, *match.args, **match.kwargs)
            return response
    return problems.problem("not_found", "There is no such address.")
