"""What the OpenAPI page says of each address: one decorator per call."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from workflows.api.headers import LONGEST_WAIT
from workflows.api.query import LARGEST_PAGE, USUAL_PAGE
from workflows.states import RunState

REFUSALS = {
    400: "`invalid`: `errors` names each field at fault; or `key_missing`",
    401: "`unauthenticated`: no key, or none that is good",
    403: "`denied`: this agent may not do that",
    404: "`not_found`: there is none, or it isn't yours",
    409: "`name_taken`, `run_over` or `sealed`",
    413: "`too_large`",
    422: "`key_reused`: this key came with another body before",
}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _says(name: str, description: str) -> OpenApiResponse:
    return OpenApiResponse(_ref(name), description)


def _refusals(*codes: int) -> dict[Any, OpenApiResponse]:
    return {(code, "application/problem+json"): _says("Problem", REFUSALS[code]) for code in codes}


def _query(name: str, description: str, **schema: Any) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", **schema}, OpenApiParameter.QUERY, description=description)


def _header(name: str, description: str, schema: Any = None, *, required: bool = False) -> OpenApiParameter:
    kind = {"type": "string", **(schema or {})}
    return OpenApiParameter(name, kind, OpenApiParameter.HEADER, required=required, description=description)


def _sent(name: str, description: str, *statuses: int) -> OpenApiParameter:
    text = {"type": "string"}
    return OpenApiParameter(name, text, OpenApiParameter.HEADER, description=description, response=list(statuses))


def _id(name: str) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", "format": "uuid"}, OpenApiParameter.PATH)


KEY = {"pattern": r"^[!-+\--~]+$", "minLength": 1, "maxLength": 255}
TAG = _sent("ETag", "of the run as `GET` shows it, for `If-None-Match`", 200, 201, 202)
PAGE = [
    _query("cursor", "`next` of the page before, with the same filters"),
    _query("limit", "rows of a page", type="integer", minimum=1, maximum=LARGEST_PAGE, default=USUAL_PAGE),
]
REPLAYED = "`true`: the call had come before, and this is what it made then"

start = extend_schema(
    operation_id="start_run",
    summary="Start a run",
    parameters=[
        _header("Idempotency-Key", "the same key with the same body is the same run", KEY, required=True),
        _sent("Location", "the run", 200, 201),
        TAG,
        _sent("Idempotent-Replayed", REPLAYED, 200),
    ],
    request={"application/json": _ref("Start")},
    responses={
        (201, "application/json"): _says("Run", "begun"),
        (200, "application/json"): _says("Run", "it was begun by the same call before"),
        **_refusals(400, 401, 403, 413, 422),
    },
)
runs = extend_schema(
    operation_id="list_runs",
    summary="List runs, the newest first",
    parameters=[
        _query("state", "", enum=[state.value for state in RunState]),
        _query("workflow", "a workflow's name"),
        _query("subject", "type:id, or the id alone"),
        _query("external_id", "your own name for the run"),
        _query("created_after", "later than this", format="date-time"),
        _query("created_before", "earlier than this", format="date-time"),
        *PAGE,
    ],
    responses={(200, "application/json"): _says("RunPage", "one page"), **_refusals(400, 401)},
)
run = extend_schema(
    operation_id="read_run",
    summary="Read a run, or wait for its change",
    parameters=[
        _id("run_id"),
        _header("Prefer", f"`wait=N`: wait up to N seconds, at most {LONGEST_WAIT}, for a change"),
        _header("If-None-Match", "the `ETag` you know: 304 while the run is still like that"),
        _sent("ETag", "changes with the run", 200, 304),
        _sent("Preference-Applied", "`wait=N`; without it too many wait: see `Retry-After`", 200, 304),
    ],
    responses={
        (200, "application/json"): _says("Run", "as it is"),
        304: OpenApiResponse(description="as you know it"),
        **_refusals(400, 401, 404),
    },
)
step = extend_schema(
    operation_id="add_step",
    summary="Add a step to an open run",
    parameters=[
        _id("run_id"),
        _header("Idempotency-Key", "not needed: the name decides", KEY),
        _sent("Idempotent-Replayed", REPLAYED, 200),
    ],
    request={"application/json": _ref("NewStep")},
    responses={
        (202, "application/json"): _says("Step", "taken"),
        (200, "application/json"): _says("Step", "it was taken before"),
        **_refusals(400, 401, 403, 404, 409, 413),
    },
)
seal = extend_schema(
    operation_id="seal_run",
    summary="Say that no more steps will come",
    parameters=[_id("run_id"), TAG],
    request=None,
    responses={
        (202, "application/json"): _says("Run", "sealed"),
        (200, "application/json"): _says("Run", "it was sealed before"),
        **_refusals(400, 401, 404, 409, 413),
    },
)
cancel = extend_schema(
    operation_id="cancel_run",
    summary="Cancel a run: what stands is compensated, or held for a person",
    parameters=[_id("run_id"), TAG],
    request={"application/json": _ref("Cancel")},
    responses={
        (202, "application/json"): _says("Run", "it turns back"),
        **_refusals(400, 401, 404, 409, 413),
    },
)
effect = extend_schema(
    operation_id="read_effect",
    summary="Read an effect with its attempts, looks, decisions and evidence",
    parameters=[_id("effect_id")],
    responses={(200, "application/json"): _says("EffectInFull", "all that is known"), **_refusals(400, 401, 404)},
)
tools = extend_schema(
    operation_id="list_tools",
    summary="The tools that this agent may use",
    parameters=PAGE,
    responses={(200, "application/json"): _says("DeclaredPage", "one page"), **_refusals(400, 401)},
)
workflows = extend_schema(
    operation_id="list_workflows",
    summary="The workflows that this agent may start",
    parameters=PAGE,
    responses={(200, "application/json"): _says("DeclaredPage", "one page"), **_refusals(400, 401)},
)
hook = extend_schema(
    operation_id="tell",
    summary="Tell what happened at a provider, signed (Standard Webhooks); a hint that moves no state by itself",
    parameters=[
        OpenApiParameter("source", {"type": "string"}, OpenApiParameter.PATH),
        _header("webhook-id", "the event; each is taken once"),
        _header("webhook-timestamp", "seconds since 1970, at most 5 minutes off"),
        _header("webhook-signature", "`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; several by blanks"),
    ],
    request={"application/json": {"type": "object"}},
    responses={
        (202, "application/json"): _says("Heard", "kept; what it names is looked at"),
        (200, "application/json"): _says("Heard", "it had come before, and changes nothing"),
        **_refusals(400, 401, 404, 413),
    },
)
