"""URL templates: the host is the author's or the operator's, and every other value is one encoded segment or value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from workflows.tools import expressions
from workflows.tools.expressions import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workflows.tools.expressions import Template

FROM_ENV = re.compile(r"env\.[A-Za-z_][A-Za-z0-9_]*|env\[(?:'[^']*'|\"[^\"]*\")\]")
SCHEME = re.compile(r"https?://", re.IGNORECASE)
HIDDEN = "//[hidden]@"
DEFAULT_PORTS = {"http": 80, "https": 443}


def trouble(text: str) -> str | None:
    """Why this template can't be a URL whose host nobody outside chooses; None where it can."""
    parts = list(_placed(expressions.parse(text)))
    is_expression, first, _ = parts[0]
    if not (FROM_ENV.fullmatch(first) if is_expression else SCHEME.match(first)):
        return "must begin with http://, https:// or ${ env.NAME }"
    for is_expression, part, place in parts:
        if is_expression and place == "authority" and not FROM_ENV.fullmatch(part):
            return "the host of a URL comes from a literal or env only; put a / before the first other expression"
        if not is_expression and "#" in part:
            return "a fragment is never sent; leave out the # and what follows"
        if not is_expression and re.search(r"[\s\\]", part):
            return "a URL holds no blanks or backslashes"
    return None


def fill(text: str, names: Mapping[str, Any]) -> str:
    """The URL of a call. Raises `ExpressionError` where a value is missing or would leave its place."""
    template = expressions.parse(text)
    places = iter([place for is_expression, _, place in _placed(template) if is_expression])
    url = template.joined(names, lambda value: _shaped(expressions.text_of(value), next(places)))
    path = urlsplit(url).path
    if any(segment in (".", "..") for segment in path.split("/")):
        raise ExpressionError("", text, f"the path {path!r} would climb to another resource")
    origin(url)
    return url


def joined(base: str, url: str) -> str:
    """An address that an answer gave, absolute or relative to what was asked; raises where it leads elsewhere."""
    found = urljoin(base, url.strip())
    if origin(found) != origin(base):
        raise ExpressionError("", url, f"leads away from {urlsplit(base).netloc}")
    return found


def origin(url: str) -> tuple[str, str, int]:
    """(scheme, host, port). Raises `ExpressionError` for what is no plain http(s) address."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        (parts.hostname or "").encode("idna")
    except (ValueError, KeyError):
        hidden = re.sub(r"//.*@", HIDDEN, url, flags=re.DOTALL)  # a password's slash may be what makes it none
        raise ExpressionError("", hidden, "is no http or https address") from None
    if not parts.hostname or "@" in parts.netloc or not url.isprintable() or " " in url or "\\" in url:
        raise ExpressionError("", told(url), "is no plain http or https address")
    return parts.scheme, parts.hostname, port


def told(url: str) -> str:
    """As it may be shown: without a name and password before its host, which is refused for them."""
    return re.sub(r"//[^/]*@", HIDDEN, url)


def _placed(template: Template) -> Iterator[tuple[bool, str, str]]:
    """Each part of a template with the part of the URL that it stands in: authority, path or query."""
    place = "authority"
    for number, (is_expression, text) in enumerate(template.parts):
        yield is_expression, text, place
        if is_expression:
            continue
        rest = SCHEME.sub("", text, count=1) if number == 0 else text
        if place == "authority" and re.search(r"[/?]", rest):
            place = "path"
        if place == "path" and "?" in rest:
            place = "query"


def _shaped(text: str, place: str) -> str:
    if place == "authority":
        return text  # the operator's own address, checked as a whole afterwards
    if place == "path" and not text:
        raise ValueError("an empty value in a path would address the collection")
    return quote(text, safe="")
