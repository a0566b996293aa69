"""Where the key of one request is one key, in words that are equal for the same place. For the kind http."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workflows.tools import secrets, urls
from workflows.tools.expressions import fill

if TYPE_CHECKING:
    from collections.abc import Mapping


def of(part: Mapping[str, Any], names: Mapping[str, Any], scope: str) -> str:
    """ "" where a key is one key everywhere. Raises `ExpressionError` where the request can't be made."""
    if scope == "global":
        return ""
    used = secrets.Secrets()
    url = urlsplit(urls.fill(part["url"], names))
    auth = fill(part.get("auth"), names, "auth", with_secrets=True) or {}
    headers = fill(dict(part.get("headers") or {}), names, "headers", with_secrets=True)
    used.wired([auth, headers])
    account = [url.scheme, url.netloc, auth.get("oauth"), (auth.get("basic") or {}).get("username"), sorted(used.used)]
    match scope:
        case "credential":
            return json.dumps([*account, sorted(used.used.values())])
        case "endpoint":
            return json.dumps([*account, part["method"], url.path])
        case _:
            return json.dumps(account)
