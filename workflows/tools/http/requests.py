"""Makes the request of one call: every value at its place, secrets only at the wire, a digest of what was asked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from workflows import money
from workflows.tools import secrets, urls
from workflows.tools.expressions import ExpressionError, fill, text_of
from workflows.tools.http import forms, literals
from workflows.tools.tokens import NoToken, Token
from workflows.tools.wire import Request

if TYPE_CHECKING:
    from collections.abc import Mapping

# Visible characters, blanks and tabs, as HTTP takes them; a line break would begin a header of somebody's choice.
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
LARGEST = 1_048_576


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """`digest`: 64 hex over what was asked, with the names of secrets in place of their values; `url`: as it may be
    kept and shown."""

    request: Request
    digest: str
    secrets: secrets.Secrets
    url: str
    token: Token | None = None  # the one that it carries


def prepare(
    part: Mapping[str, Any],
    names: Mapping[str, Any],
    *,
    method: str | None = None,
    url: str | None = None,
    plain: Mapping[str, str] | None = None,
    content: bytes = b"",
    tokens: Mapping[str, Token] | None = None,
    exact: bool = False,
    masked: bool = False,
) -> Prepared:
    """The request that a part of a spec declares. Raises `ExpressionError`, with its path, where it can't be made.

    `method`, `url`: instead of the part's own, as they are. `plain`: headers that are no templates (a provider's own
    text must never become an expression). `content`: a body that isn't JSON. `tokens`: of the credentials, by name.
    `exact`: no binary float may be in the body, as it speaks of money. `masked`: to be shown and not to be sent; it
    has the names of secrets in place of their values, which nobody asks for.
    """
    used = secrets.Masked() if masked else secrets.Secrets()
    try:
        url = urls.fill(part["url"], names) if url is None else url
    except ExpressionError as error:
        raise error.at("url") from None
    told = fill(part.get("json"), names, "json", with_secrets=True)
    if exact:
        without_floats(told)
    form: list[dict[str, Any]] | None = None
    if part.get("multipart") is not None:
        filled = used.wired(fill(part["multipart"], names, "multipart", with_secrets=True))
        form, kind, content = forms.form(filled, "multipart")
        plain = {**(plain or {}), "Content-Type": kind}
    headers = fill(dict(part.get("headers") or {}), names, "headers", with_secrets=True) | dict(plain or {})
    auth = fill(part.get("auth"), names, "auth", with_secrets=True)
    method = method or str(part["method"])
    asked = used.named({"method": method, "url": url, "headers": headers, "auth": auth, "json": told})
    if form is not None:
        asked["multipart"] = form  # the content by its digest; the bytes that carry it are no part of what is asked
    body = _bounded(content) if content else _body(used.wired(told))
    token = _token(auth, tokens or {})
    sent = _headers(used.wired(headers), _authorization(used.wired(auth), token, used), has_body=bool(body))
    request = Request(method=method, url=url, headers=sent, body=body)
    transported = b"" if form is not None else content
    digest = hashlib.sha256(json.dumps(used.hide(asked), sort_keys=True).encode() + transported).hexdigest()
    return Prepared(request, digest, used, literals.in_query(url, literals.of_url(str(part.get("url") or ""))), token)


def without_floats(body: Any) -> None:
    """No amount travels as a binary float. Raises `ExpressionError`."""
    if inexact := money.floats(body, "json"):
        raise ExpressionError(inexact[0][0], str(inexact[0][1]), "is a binary float; send minor units or major()")


def _token(auth: Mapping[str, Any] | None, tokens: Mapping[str, Token]) -> Token | None:
    name = (auth or {}).get("oauth")
    if name is None:
        return None
    if name not in tokens:
        raise NoToken("auth.oauth", str(name), "has no token that is accepted now")
    return tokens[name]


def _body(content: Any) -> bytes:
    if content is None:
        return b""
    return _bounded(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace"))


def _bounded(body: bytes) -> bytes:
    if len(body) > LARGEST:
        raise ExpressionError("json", f"{len(body)} bytes", f"is larger than {LARGEST} bytes")
    return body


def _headers(filled: Mapping[str, Any], authorization: str | None, *, has_body: bool) -> tuple[tuple[str, str], ...]:
    headers = {name: _value(name, value) for name, value in filled.items()}
    known = {name.lower() for name in headers}
    if "accept" not in known:
        headers["Accept"] = "application/json"
    if has_body and "content-type" not in known:
        headers["Content-Type"] = "application/json"
    if authorization is not None:
        headers["Authorization"] = _value("Authorization", authorization)
    return tuple(headers.items())


def _value(name: str, value: Any) -> str:
    text = text_of(value).strip()
    if not HEADER_VALUE.fullmatch(text):
        # Not the text itself: there may be a secret in it.
        raise ExpressionError(f"headers.{name}", name, "holds a line break or a character that no header takes")
    return text


def _authorization(auth: Mapping[str, Any] | None, token: Token | None, used: secrets.Secrets) -> str | None:
    if not auth:
        return None
    if token is not None:
        used.also(token.text, token.credential)
        return f"Bearer {token.text}"
    if "bearer" in auth:
        return f"Bearer {text_of(auth['bearer'])}"
    return f"Basic {used.basic(text_of(auth['basic']['username']), text_of(auth['basic']['password']))}"
