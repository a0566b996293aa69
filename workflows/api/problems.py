"""The one place where errors become HTTP: application/problem+json (RFC 9457) with `code`, `detail` and `errors`."""

from __future__ import annotations

import http
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse, UnreadablePostError
from rest_framework.exceptions import APIException, MethodNotAllowed

from workflows.api import wire
from workflows.errors import Flaw, MakegoodError, shown

logger = logging.getLogger(__name__)

STATUS = {
    "invalid": 400,
    "key_missing": 400,
    "unauthenticated": 401,
    "denied": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "name_taken": 409,
    "run_over": 409,
    "sealed": 409,
    "stale_fence": 409,
    "too_large": 413,
    "key_reused": 422,
    "rate_limited": 429,
    "internal": 500,
    "unavailable": 503,
}
LONGEST_VALUE = 200  # bytes of a value that an error says back; beyond it is shortened
COME_BACK = "5"  # seconds until a client asks again when the database didn't answer; a restart takes about that


def handle(error: Exception, _context: Mapping[str, Any]) -> HttpResponse:
    """Django REST framework's exception handler."""
    match error:
        case MakegoodError():
            return problem(error.code, error.detail, error.flaws)
        case Http404():
            return problem("not_found", "There is no such address.")
        case MethodNotAllowed():
            return problem("method_not_allowed", str(error.detail))
        case UnreadablePostError():
            return problem("invalid", "The body ended before it was complete.")
        case APIException():
            return problem("invalid", str(error.detail))
        case OperationalError() | InterfaceError():
            logger.error("the database did not answer: %s", (str(error).strip() or "no reason given").splitlines()[0])
            return problem("unavailable", "The database doesn't answer. Nothing was written; ask again.")
        case _:
            logger.error("a request failed through a mistake of ours", exc_info=error)
            return problem("internal", "This is a mistake of ours; the server's log has it.")


def problem(code: str, detail: str, flaws: Sequence[Flaw] = ()) -> HttpResponse:
    status = STATUS.get(code, 400)
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if flaws:
        body["errors"] = [{"path": f.path, "value": presentable(f.value), "message": f.message} for f in flaws]
    response = HttpResponse(wire.dumps(body), status=status, content_type="application/problem+json")
    wire.keep_private(response)
    if status == http.HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Bearer realm="makegood"'
    if status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = COME_BACK
    return response


def presentable(value: object) -> object:
    """The value itself where it is short and every client can read it, else one bounded line about it."""
    try:
        text = wire.dumps(value)
    except (ValueError, TypeError, RecursionError):
        return shown(value)
    clean = b"\\u" not in text and text.decode().isprintable()
    return value if clean and len(text) <= LONGEST_VALUE else shown(value)
