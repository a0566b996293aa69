"""Credentials that a manifest holds in clear, in a query or a body: they are sent, and shown to nobody.

Told by their names, and only where the manifest has the text itself: what an argument brought is what a person decides
about, and stays in sight whatever its name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urlsplit

from workflows.tools import expressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES = frozenset(
    {
        "password", "passwd", "pwd", "passphrase", "secret", "token", "authorization", "credential", "credentials",
        "apikey", "accesskey", "secretkey", "privatekey", "authkey", "authtoken", "accesstoken", "refreshtoken",
        "apitoken", "apisecret", "clientsecret", "appsecret", "sharedsecret", "signature", "sig", "subscriptionkey",
    }
)  # fmt: skip
ENDS = ("token", "secret", "password", "apikey")  # of a house's own names: Private-Token, X-Shop-Access-Token
OF_A_HEADER = frozenset({"bearer", "cookie", "proxy-authorization"})
HIDDEN = "[hidden]"


def of_part(part: Mapping[str, Any]) -> frozenset[str]:
    """The credentials that stand in this part of a spec, as texts."""
    spoken = {"json": part.get("json"), "headers": part.get("headers")}
    return frozenset([*_of_query(str(part.get("url") or "")), *_of_json(spoken), *_of_form(part)])


def of_url(url: str) -> frozenset[str]:
    """Those in its query alone."""
    return frozenset(_of_query(url))


def in_query(url: str, literals: frozenset[str]) -> str:
    """The address as it may be shown."""
    before, mark, query = url.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&")]
    told = (
        f"{name}={HIDDEN}" if names(name) and value in literals else name + sign + value for name, sign, value in pairs
    )
    return f"{before}{mark}{'&'.join(told)}" if literals else url


def in_json(value: Any, literals: frozenset[str], name: str = "") -> Any:
    match value:
        case dict():
            return {key: in_json(one, literals, key) for key, one in value.items()}
        case list():
            return [in_json(one, literals, name) for one in value]
        case _:
            return HIDDEN if names(name) and str(value) in literals else value


def in_form(body: str, literals: frozenset[str]) -> str:
    """A body of multipart/form-data as it may be shown."""
    for text in literals:
        body = re.sub(
            rf'(name="([^"]*)"\r\n\r\n){re.escape(text)}(?=\r\n--)',
            lambda found: found[1] + HIDDEN if names(found[2]) else found[0],
            body,
        )
    return body


def in_spec(value: Any, name: str = "") -> Any:
    """A whole spec as it may be shown: what else is a credential there are headers and `auth`."""
    match value:
        case {"name": str(part), "value": str(text)} if names(part) and _literal(text):
            return {**value, "value": HIDDEN}
        case dict():
            return {key: in_spec(one, key) for key, one in value.items()}
        case list():
            return [in_spec(one, name) for one in value]
        case str() if name == "url":
            return in_query(value, of_url(value))
        case str() | int() if value and (names(name) or name.lower() in OF_A_HEADER) and _literal(str(value)):
            return HIDDEN
        case _:
            return value


def names(name: str) -> bool:
    """Whether what has this name is a credential: `api_key`, `apiKey` and `X-Api-Key` are one name."""
    plain = re.sub(r"[^a-z]", "", unquote_plus(name).lower())
    return plain in NAMES or plain.removeprefix("x") in NAMES or plain.endswith(ENDS)


def _of_query(url: str) -> Iterator[str]:
    for pair in urlsplit(url).query.split("&") if "?" in url else ():
        name, _, value = pair.partition("=")
        if value and names(name) and _literal(value):
            yield value


def _of_json(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _of_json(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _of_json(one, name)
    elif value not in (None, "") and names(name) and _literal(str(value)):
        yield str(value)


def _of_form(part: Mapping[str, Any]) -> Iterator[str]:
    for one in part.get("multipart") or ():
        yield from _of_json({str(one.get("name")): one.get("value")})


def _literal(text: str) -> bool:
    return not any(is_expression for is_expression, _ in expressions.parse(text).parts)
