"""What expressions may read of an answer, and what is kept of it as evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workflows.tools.keeping import excerpt, keepable, sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workflows.tools.http.requests import Prepared
    from workflows.tools.wire import Answer

# Headers that help a person or prove something; all others may hold sessions and tokens.
KEPT_HEADERS = (
    "content-type",
    "content-length",
    "content-encoding",
    "date",
    "etag",
    "last-modified",
    "location",
    "operation-location",
    "retry-after",
    "x-request-id",
    "request-id",
    "x-correlation-id",
    "traceparent",
    "idempotent-replayed",
)
NOTHING = object()


def names_of(answer: Answer) -> dict[str, Any]:
    """`status`, `headers`, `body` (null where it is no JSON) and `text`."""
    content = content_of(answer)
    return {
        "status": answer.status,
        "headers": answer.headers,
        "body": None if content is NOTHING else content,
        "text": answer.body.decode("utf-8", "backslashreplace"),
    }


def content_of(answer: Answer) -> Any:
    """The JSON of the answer, or NOTHING: another content type isn't trusted, whatever its bytes look like."""
    kind = answer.headers.get("content-type", "application/json").split(";", 1)[0].strip().lower()
    if not (kind == "application/json" or kind.endswith("+json") or kind == "text/json"):
        return NOTHING
    try:
        return json.loads(answer.body.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return NOTHING


def _once(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that stands twice nobody can say which was meant: `{"ok": false, "ok": true}` is no yes."""
    found = dict(items)
    if len(found) < len(items):
        raise ValueError("a key stands twice")
    return found


def is_unreadable(answer: Answer) -> bool:
    """A body that isn't the JSON which the expressions read: a login page under 200, say."""
    return bool(answer.body.strip()) and content_of(answer) is NOTHING


def evidence(prepared: Prepared, answer: Answer | None, seconds: float, *, whole: bool = True) -> dict[str, Any]:
    """Bounded, without secrets, fit for the database."""
    request = prepared.request
    asked = {"method": request.method, "url": sentence(prepared.url, 2048), "digest": prepared.digest}
    kept: dict[str, Any] = {"request": asked, "seconds": round(seconds, 3)}
    if answer is not None:
        headers = {name: sentence(answer.headers[name], 2048) for name in KEPT_HEADERS if name in answer.headers}
        kept["answer"] = {
            "status": answer.status,
            "headers": headers,
            "address": answer.address,
            **excerpt(answer.body),
        }
        if not whole:
            kept["answer"]["whole"] = False
    hidden: dict[str, Any] = keepable(prepared.secrets.hide(kept))
    return hidden


def said(answer: Answer, names: Mapping[str, Any]) -> str:
    """The provider's own words for a reason, if it gave any that a person can read; of a batch those for this item."""
    if "item" in names:
        return worded(names["item"]) or sentence(json.dumps(names["item"], ensure_ascii=False)[:400])
    if words := worded(names["body"]):
        return words
    if "html" in answer.headers.get("content-type", "").lower():
        return "an HTML page"
    return sentence(names["text"][:400])


def worded(body: Any) -> str:
    """What the usual fields of an error say, or ""."""
    if isinstance(body, dict):
        for name in ("detail", "message", "error_description", "error", "title", "reason"):
            if isinstance(text := body.get(name), str) and text.strip():
                return sentence(text)
            if isinstance(text, dict) and isinstance(inner := text.get("message"), str):
                return sentence(inner)
    return ""


def _refuse(constant: str) -> None:
    raise ValueError(constant)
