"""Secrets at the wire: tokens replaced in what is sent, and taken out again of whatever is kept."""

from __future__ import annotations

import base64
import re
from typing import Any

from workflows.tools import providers
from workflows.tools.expressions import ExpressionError
from workflows.tools.expressions.programs import token_of

TOKEN = re.compile(re.escape(token_of("NAME")).replace("NAME", "([A-Z][A-Z0-9_]{0,63})"))
# Shorter ones stand in every text by chance; taking them out would garble evidence.
SHORTEST_HIDDEN = 4


class NotSet(ExpressionError):
    """A secret that the operator hasn't set (yet)."""


class Secrets:
    """Those that one request used."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # what must not be kept -> name
        self.used: dict[str, str] = {}  # name -> value, of those that the request carries

    def wired(self, value: Any) -> Any:
        """The JSON value as it is sent. Raises `ExpressionError` for a secret that isn't set."""
        return _mapped(value, lambda text: TOKEN.sub(lambda match: self._value(match[1]), text))

    def named(self, value: Any) -> Any:
        """The JSON value as it is kept: a secret's name in place of its token."""
        return _mapped(value, lambda text: TOKEN.sub(lambda match: _shown(match[1]), text))

    def hide(self, value: Any) -> Any:
        """Takes out of a JSON value every secret that an answer echoed."""
        return _mapped(value, self._hidden) if self._names else value

    def also(self, text: str, name: str) -> None:
        """Another form of a secret, such as its basic credentials."""
        self._names[text] = name

    def basic(self, username: str, password: str) -> str:
        credentials = basic(username, password)
        self.also(credentials, "basic")
        return credentials

    def _value(self, name: str) -> str:
        value = providers.secret(name)
        if value is None:
            raise NotSet("", f"secret('{name}')", f"isn't set; set {providers.places(name)}")
        self._names[value], self.used[name] = name, value
        return value

    def _hidden(self, text: str) -> str:
        for secret, name in self._names.items():
            text = hidden(text, secret, name)
        return text


def hidden(text: str, secret: str, name: str) -> str:
    """The text without one secret that it may hold."""
    return text.replace(secret, _shown(name)) if len(secret) >= SHORTEST_HIDDEN else text


def basic(username: str, password: str) -> str:
    """The credentials of RFC 7617."""
    return base64.b64encode(f"{username}:{password}".encode()).decode()


class Masked(Secrets):
    """For a request that is shown and never sent: no provider is asked."""

    def wired(self, value: Any) -> Any:
        return self.named(value)

    def basic(self, username: str, password: str) -> str:
        return "[hidden]"


def _shown(name: str) -> str:
    return f"[secret {name}]"


def _mapped(value: Any, change: Any) -> Any:
    match value:
        case str():
            return change(value)
        case dict():
            return {change(key): _mapped(item, change) for key, item in value.items()}
        case list():
            return [_mapped(item, change) for item in value]
        case _:
            return value
