"""Tokens of credentials at the wire: which a tool needs, placing one, and telling that a provider refuses one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workflows.outcomes import Rejected
from workflows.tools.expressions import ExpressionError

if TYPE_CHECKING:
    from workflows.outcomes import JsonObject
    from workflows.tools.wire import Answer


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """What is placed at the wire: its text, and which of its credential's tokens it is."""

    credential: str
    text: str = dataclasses.field(repr=False)
    generation: int


class NoToken(ExpressionError):
    """A credential that has no token now: it is being renewed, was lost, or isn't there yet."""


@dataclasses.dataclass(frozen=True, slots=True)
class Needs:
    """The credentials of one operation: those that its send carries, and those that its looks carry; `secrets` and
    `look_secrets`: the names of the static ones."""

    send: frozenset[str] = frozenset()
    look: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    look_secrets: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.send | self.look


def needs_of(spec: JsonObject, operation: str) -> Needs:
    """From a normalised spec. What is read before an act counts to its send: without it nothing is sent."""
    part: dict[str, Any] = spec.get(operation) or {}
    if operation == "execute":
        looks, before = [spec.get("verify"), spec.get("mailbox")], spec.get("before")
    else:
        looks, before = [part.get("verify")], None
    request = {name: value for name, value in part.items() if name != "verify"}
    static, read = (
        frozenset(name for text in _texts(of) for name in SECRET.findall(text)) for of in ([request, before], looks)
    )
    return Needs(frozenset(_named([request, before])), frozenset(_named(looks)), static, read)


SECRET = re.compile(r"""\bsecret\(\s*['"]([A-Z][A-Z0-9_]*)['"]\s*\)""")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        auth = value.get("auth")
        if isinstance(auth, dict) and isinstance(auth.get("oauth"), str):
            yield auth["oauth"]
        for one in value.values():
            yield from _named(one)
    elif isinstance(value, list):
        for one in value:
            yield from _named(one)


def rejected(token: Token | None, answer: Answer) -> Rejected | None:
    """Whether this answer refuses the token that the request carried, rather than the act (RFC 6750, 3.1)."""
    if token is None:
        return None
    if answer.status == 401:
        return Rejected(token.credential, token.generation)
    if answer.status == 403 and 'error="insufficient_scope"' in answer.headers.get("www-authenticate", ""):
        return Rejected(token.credential, token.generation, lasting="its scope is not sufficient")
    return None


def rejected_secrets(used: Mapping[str, str], answer: Answer, means: bool | None) -> Rejected | None:
    """The same of the static secrets that the request carried. 401 never speaks of the act. 403 may: it is the
    manifest's where that says something of it (`means` False), and else says that they may not do this."""
    if not used or means is False:
        return None
    if means or answer.status == 401:
        return Rejected(secrets=used)
    if answer.status == 403 and "retry-after" not in answer.headers:
        return Rejected(secrets=used, only_here=True)
    return None
