"""Asks a token endpoint for a token (RFC 6749), and says by value what its answer is worth. For `engine.refresh`."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any
from urllib.parse import quote, urlencode

from workflows.tools import providers, retry_after, secrets
from workflows.tools.keeping import sentence
from workflows.tools.wire import Answer, Forbidden, Lost, NotLeft, Request, exchange

TIMEOUT = 20.0  # seconds for one answer; whoever waits for the token is parked meanwhile
LONGEST_WAIT = 3600.0  # seconds; an endpoint that asks for more is asked again all the same
LONGEST_LIFE = 10 * 366 * 86_400.0  # seconds; who says more means for ever
TOKEN = re.compile(r"[\x21-\x7e]+")  # what a header takes; anything else would not arrive as it was given


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request for a token. `secret`: the name under which the secrets' providers know the client's secret."""

    credential: str
    url: str
    grant: str  # refresh_token | client_credentials
    client: str
    secret: str
    scope: str
    refresh: str = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    access: str = dataclasses.field(repr=False)
    refresh: str = dataclasses.field(repr=False)  # "" where the old one stays
    lives: float | None  # seconds; None where nothing was said


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The endpoint said no, for good: the grant or the client is not accepted."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Nothing was asked, or nothing was done: the same may be asked again."""

    reason: str
    retry_after: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """It may have been done, and its answer is lost: a refresh token that is used once may be used up."""

    reason: str


Answered = Renewed | Denied | Later | Unclear


def ask(asking: Asking) -> Answered:
    secret = providers.secret(asking.secret) if asking.secret else ""
    if secret is None:
        return Later(
            reason=f"the secret {asking.secret} of its client isn't set; set {providers.places(asking.secret)}"
        )
    hidden = secrets.Secrets()
    for text in (secret, asking.refresh):
        hidden.also(text, asking.credential)
    try:
        answer = exchange(_request(asking, secret), timeout=TIMEOUT)
    except (NotLeft, Forbidden) as trouble:
        return Later(reason=str(trouble))
    except Lost as trouble:
        return Unclear(reason=f"the answer was lost: {hidden.hide(str(trouble))}")
    return _judged(answer, hidden)


def _request(asking: Asking, secret: str) -> Request:
    form = {"grant_type": asking.grant}
    if asking.grant == "refresh_token":
        form["refresh_token"] = asking.refresh
    if asking.scope:
        form["scope"] = asking.scope
    headers = [("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")]
    if secret:
        # RFC 6749, 2.3.1: both are form-encoded before they become basic credentials.
        basic = secrets.basic(quote(asking.client, safe=""), quote(secret, safe=""))
        headers.append(("Authorization", f"Basic {basic}"))
    else:
        form["client_id"] = asking.client
    return Request(method="POST", url=asking.url, headers=tuple(headers), body=urlencode(form).encode())


def _judged(answer: Answer, hidden: secrets.Secrets) -> Answered:
    body = _json(answer)
    if 200 <= answer.status < 300:
        access, refresh, lives = body.get("access_token"), body.get("refresh_token"), body.get("expires_in")
        if not isinstance(access, str) or not TOKEN.fullmatch(access):
            return Unclear(reason="the answer holds no access token that a header could take")
        return Renewed(access=access, refresh=refresh if isinstance(refresh, str) else "", lives=_life(lives))
    if answer.status in (429, 503):
        asked = retry_after.seconds(answer.headers.get("retry-after"), answer.headers.get("date"), most=LONGEST_WAIT)
        return Later(reason=f"the endpoint answered {answer.status}", retry_after=asked)
    error = body.get("error")
    if answer.status in (400, 401, 403) and isinstance(error, str):
        more = body.get("error_description")
        told = f"{error}: {more}" if isinstance(more, str) and more else error
        return Denied(reason=sentence(str(hidden.hide(told))))
    if 400 <= answer.status < 500:
        return Denied(reason=f"the endpoint answered {answer.status}")
    return Unclear(reason=f"the endpoint answered {answer.status}")


def _life(lives: Any) -> float | None:
    """None where nothing was said that makes sense. What can't be counted with must not lose the token that came."""
    if isinstance(lives, bool) or not isinstance(lives, int | float) or not lives > 0:
        return None
    return float(min(lives, LONGEST_LIFE))


def _json(answer: Answer) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
