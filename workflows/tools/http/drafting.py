"""Requests of the kinds that speak HTTP as drafts: made the same way as the real ones, with no secret in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workflows.tools import environment, urls
from workflows.tools.draft import Draft
from workflows.tools.expressions import ExpressionError, fill
from workflows.tools.http import literals as in_clear
from workflows.tools.http.requests import prepare
from workflows.tools.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Whatever stands in these is a credential, though the manifest may hold it in clear.
CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token"})
IN_A_BATCH = "It may travel in one request with others of this tool, each under its own key."


def draft(
    part: Mapping[str, Any],
    names: Mapping[str, Any],
    *,
    needs: Iterable[str] = (),
    reads: bool = False,
    note: str = "",
    **how: Any,
) -> Draft:
    """The request that a part of a spec declares. `needs`: the credentials whose tokens it carries; `how`: as `prepare`
    takes it."""
    literals = in_clear.of_part(part)
    tokens = {name: Token(name, f"[token of {name}]", 0) for name in needs}
    try:
        prepared = prepare(part, names, tokens=tokens, masked=True, **how)
    except ExpressionError as error:
        url = in_clear.in_query(urls.told(str(how.get("url") or part.get("url", ""))), literals)
        line = f"{how.get('method') or part.get('method', '')} {url}".strip()
        return Draft(line=line, reads=reads, note=note, flaw=str(error))
    request = prepared.request
    return Draft(
        line=f"{request.method} {in_clear.in_query(request.url, literals)}",
        headers=tuple((name, masked(name, value, literals)) for name, value in request.headers),
        body=readable(request.body, literals),
        digest=prepared.digest,
        reads=reads,
        note=note,
    )


def batched(part: Mapping[str, Any], names: Mapping[str, Any], **how: Any) -> Draft:
    """The request of a batch that carries this act alone."""
    batch = part["batch"]
    try:
        content = fill(part["json"], names, "json", with_secrets=True)
    except ExpressionError as error:
        url = in_clear.in_query(urls.told(part["url"]), in_clear.of_part(part))
        return Draft(line=f"{part['method']} {url}", note=IN_A_BATCH, flaw=str(error))
    several = {"items": [content], "env": environment.values(), "now": names["now"]}
    return draft({**part, "json": batch["json"]}, several, note=IN_A_BATCH, **how)


def masked(name: str, value: str, literals: frozenset[str] = frozenset()) -> str:
    if in_clear.names(name) and value in literals:
        return in_clear.HIDDEN
    if name.lower() not in CREDENTIALS or "[secret " in value or "[token of " in value:
        return value
    scheme, blank, _ = value.partition(" ")
    return f"{scheme} [hidden]" if blank else "[hidden]"


def readable(body: bytes, literals: frozenset[str] = frozenset()) -> str:
    """The body as text; JSON a value a line. `literals`: credentials that the manifest holds in clear."""
    try:
        return json.dumps(in_clear.in_json(json.loads(body), literals), indent=2, ensure_ascii=False)
    except ValueError:
        return in_clear.in_form(body.decode("utf-8", "backslashreplace"), literals)
